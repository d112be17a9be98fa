"""dossier.html: every number is one of report.json, no word of a user is code, and it says what it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymizer.presets.preset import PRESETS
from anonymizer.report.page import TEMPLATES
from anonymizer.report.wording import number, percent
from tests.report.html.test_page import check_form
from tests.run.commands import Job, call, people

SKIPPED = {"style", "title", "thead", "caption", "h1", "h2", "h3", "dt", "cite", "footer"}
SKIPPED_CLASSES = {"eyebrow", "lead", "legal", "blank", "banner", "role"}
VOID = {"meta", "br"}
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?: %)?")
HASH = re.compile(r"\b[0-9a-f]{64}\b")


class Figures(HTMLParser):
    """Collects the words of a page that say what was measured."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._skipping: list[bool] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            classes = set((dict(attrs).get("class") or "").split())
            self._skipping.append(tag in SKIPPED or bool(classes & SKIPPED_CLASSES))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._skipping.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._skipping):
            self.words.append(data)

    @property
    def numbers(self) -> set[str]:
        """The numbers, without those in hashes."""
        return numbers_in(" \n ".join(self.words).replace("open, see section 8", ""))


def numbers_in(text: str) -> set[str]:
    return set(NUMBER.findall(HASH.sub("", text.replace("\xa0", " "))))


def written(value: Any) -> Iterator[str]:
    """Yield every text in which the page may show a value of a report."""
    match value:
        case bool() | None:
            return
        case Mapping():
            for key, item in value.items():
                yield str(key)
                yield from written(item)
        case list():
            for item in value:
                yield from written(item)
        case str():
            yield value
        case int():
            # A share may be a whole number in JSON; losses have four digits.
            yield from (f"{value:,}", percent(value), number(float(f"{value:.4g}")))
        case float():
            yield from (number(value), number(float(f"{value:.4g}")), f"{value:.3g}", percent(value))


def known_numbers(report: dict[str, Any], template: str, made: dict[str, Any]) -> set[str]:
    """Return every number that the page may show: of the report, of what the template asks, and counts."""
    text = files("anonymizer.report").joinpath(TEMPLATES, f"dossier.{template}.yaml").read_text("utf-8")
    asked = yaml.safe_load(text)
    preset = None if asked.get("preset") is None else PRESETS[asked["preset"]]
    rules = () if preset is None else preset.rules
    known = [*written(report), text, *(f"{each.asks} {each.source}" for each in rules)]
    known += [] if preset is None else [preset.title, preset.limits]
    known += [f"{rule.k}" for rule in rules if hasattr(rule, "k")]
    promises = len(report["constraints"]) + sum(
        len(each["constraints"]) for each in report.get("scenarios", {}).values()
    )
    points = made["open_points"]
    counts = [promises, len(points), len(made["not_answered"]), *range(1, len(points) + 1)]
    counts += [sum(each["decision"] is None for each in points)]
    return numbers_in(" \n ".join([*known, *map(str, counts)]))


def dossier_of(folder: Path, *args: str) -> tuple[str, dict[str, Any]]:
    done = call("dossier", folder, "--json", *args)
    assert done.code == 0, done.err
    return (folder / "dossier.html").read_text(encoding="utf-8"), done.json


def check_numbers(folder: Path, template: str) -> None:
    page, made = dossier_of(folder, "--template", template)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    del report["steps"], report["seconds"]
    shown = Figures(page).numbers
    assert len(shown) > 30
    assert shown - known_numbers(report, template, made) == set()
    # What matters most is there.
    for each in report["attacks"]:
        assert percent(each["success"]) in page
        assert percent(each["baseline"]) in page or each["details"].get("base_rate")
        for own in (each["tail"] or {}).values():
            assert percent(own) in page
    for each in report["constraints"]:
        assert number(each["measured"]) in page
    for own in (report["release"]["sha256"], report["input"]["sha256"]):
        assert own in page
    assert number(report["loss"]["precision"]) in page


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a job with whatever a dossier may show: persons, scenarios, findings, utility."""
    records = [(f"person {number // 2}", *row[1:]) for number, row in enumerate(people(400))]
    job = Job(tmp_path_factory.mktemp("dossier")).rows(records).set("input", person="name")
    job.config["attributes"]["diagnosis"] = {"role": "sensitive"}
    job.config["attacks"] = [
        "homogeneity",
        {"attack": "vulnerability", "target": "re-identification"},
        "linkage",
        "uniqueness",
        "inference",
    ]
    job.config["utility"] = ["marginal-distance"]
    job.config["scenarios"] = {
        "neighbour": {"known": ["age", "sex"], "models": [{"model": "k-anonymity", "k": 4}]}
    }
    job.config["preset"] = "research-contract"
    job.config["acknowledge"] = [{"finding": "singled-out:note", "because": "x", "by": "y"}]
    done = job.run()
    assert done.code == 0, done.err
    return job


@pytest.mark.parametrize("template", ["general", "hipaa-expert", "ema-0070"])
def test_every_number_is_one_of_the_report(template: str, job: Job, tmp_path: Path) -> None:
    copied = job.copied(tmp_path)
    check_numbers(copied.output, template)


def test_a_number_that_is_none_would_be_found(job: Job, tmp_path: Path) -> None:
    """A test of the test."""
    copied = job.copied(tmp_path)
    page, made = dossier_of(copied.output)
    report = copied.report()
    del report["steps"], report["seconds"]
    known = known_numbers(report, "general", made)
    for planted in ("<p>12.34 %</p>", "<td>0.98765</td>", "<dd>7,654,321</dd>"):
        assert Figures(page.replace("</main>", f"{planted}</main>")).numbers - known


def changed(job: Job, folder: Path, **parts: Any) -> Path:
    """Return a folder with a changed report."""
    folder.mkdir(exist_ok=True)
    (folder / "report.json").write_text(json.dumps({**job.report(), **parts}), encoding="utf-8")
    return folder


def test_a_figure_of_the_report_is_shown_as_it_is(job: Job, tmp_path: Path) -> None:
    report = job.report()
    attacks = deepcopy(report["attacks"])
    for position, each in enumerate(attacks):
        each["success"] = 0.1011 + position / 100
    constraints = deepcopy(report["constraints"])
    constraints[0]["measured"] = 9876
    page, _ = dossier_of(changed(job, tmp_path, attacks=attacks, constraints=constraints))
    for each in attacks:
        assert page.count(percent(each["success"])) >= 1
    assert "9,876" in page


def test_the_page_has_the_form_of_every_page(job: Job, tmp_path: Path) -> None:
    page, _ = dossier_of(job.copied(tmp_path).output)
    seen = check_form(page)
    assert "<script" not in page
    assert seen.text.count("not a legal opinion") == 2
    headings = re.findall(r"<h2 [^>]*>(\d+) ", page)
    assert headings == [str(place) for place in range(1, 11)]
    assert page.count("Signature<") == 3


def test_words_of_users_are_no_code(job: Job, tmp_path: Path) -> None:
    evil = "</style><script>alert(1)</script>"
    report = job.report()
    columns = deepcopy(report["columns"])
    columns[0]["treatment"] = evil
    folder = changed(
        job,
        tmp_path,
        columns=columns,
        warnings=[evil, "say `k` < 3"],
        release={**report["release"], "sha256": f"{evil}{'0' * 64}"},
    )
    dossier_of(folder)
    path = folder / "dossier.yaml"
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    given |= {"purpose": evil, "decides": evil, "columns": {columns[0]["column"]: evil}}
    given["open_points"][0]["decision"] = evil
    path.write_text(json.dumps(given), encoding="utf-8")
    page, _ = dossier_of(folder)
    assert "<script" not in page
    assert page.count("</style>") == 1
    assert "Say <code>k</code> &lt; 3" in page
    assert page.count("&lt;script&gt;alert(1)") >= 6


def test_what_was_not_run_is_unknown_and_not_zero(job: Job, tmp_path: Path) -> None:
    report = job.report()
    rows = [row | {"success": None, "baseline": None} for row in report["attack_matrix"]]
    parts = {key: report[key] for key in report if key != "exposure"}
    tmp_path.joinpath("report.json").write_text(
        json.dumps({**parts, "attacks": [], "attack_matrix": rows}), encoding="utf-8"
    )
    page, made = dossier_of(tmp_path)
    points = [each["point"] for each in made["open_points"]]
    assert any(each.startswith("Not attacked: linkage, ") and "unknown, not zero" in each for each in points)
    assert "What the columns of the release show together was not measured." in points
    assert "No attack was run, so the risk was not measured." in page
    assert page.count("no attack of the run measures it") == 3


def test_a_small_number_of_suppressed_records_is_not_shown(job: Job, tmp_path: Path) -> None:
    report = job.report()
    release = {**report["release"], "suppressed_records": 2, "rows": report["input"]["rows"] - 2}
    page, _ = dossier_of(changed(job, tmp_path, release=release))
    assert "all but fewer than 4 of 400 records" in page
    assert "398" not in page


def test_findings_are_named_with_what_was_done(job: Job, tmp_path: Path) -> None:
    entry = {"round": 1, "kind": "unit", "set": [], "loss_before": 0.25, "loss_after": 0.375}
    exposure = {
        **job.report()["exposure"],
        "findings": [{"sentence": "all is open", "because": "close it", "remedy": "x", "kind": "unit"}],
        "mended": [
            {**entry, "finding": "a door was open", "change": "shut the door"},
            {**entry, "finding": "a window was open", "change": "shut it", "taken_back": "too dark"},
        ],
        "left_out": ["the cellar"],
        "unused": ["computed:age"],
    }
    page, made = dossier_of(changed(job, tmp_path, exposure=exposure))
    points = [each["point"] for each in made["open_points"]]
    assert "All is open. Remedy: close it." in points
    assert "Not looked at: the cellar." in points
    assert "Acknowledged, but it does not occur: computed:age." in points
    assert "SATISFIED, BUT all is open" in page
    assert "Mended: shut the door; loss 0.375, before 0.25" in page
    assert "Not mended: shut it allows no release (too dark)" in page
    assert "Acknowledged by y: x" in page


@pytest.mark.parametrize(
    ("measured", "met"),
    [
        ([{"model": "k-anonymity", "measured": 12}], True),
        ([{"model": "k-anonymity", "measured": 11}], False),
        ([{"model": "k-anonymity", "measured": 30}, {"model": "k-anonymity", "measured": 11}], False),
        ([{"model": "prosecutor-risk", "measured": round(1 / 12, 12)}], True),
        ([{"model": "prosecutor-risk", "measured": round(1 / 15, 12)}], True),
        ([{"model": "prosecutor-risk", "measured": round(1 / 11, 12)}], False),
        ([{"model": "prosecutor-risk", "measured": 0.05, "parameters": {"at": "mean"}}], None),
        ([{"model": "l-diversity", "measured": 99}], None),
        ([], None),
    ],
)
def test_the_size_of_classes_is_judged_exactly(
    measured: list[dict[str, Any]], met: bool | None, job: Job, tmp_path: Path
) -> None:
    entry = job.report()["constraints"][0] | {"parameters": {}}
    constraints = [entry | each for each in measured]
    folder = changed(job, tmp_path, constraints=constraints, scenarios={})
    _, made = dossier_of(folder, "--template", "ema-0070")
    (least,) = (each for each in made["thresholds"] if each["asks"].startswith("classes of at least 12"))
    assert least["met"] is met
    assert "threshold 0.09" in least["source"]


def test_departures_from_a_preset_are_its_thresholds(job: Job, tmp_path: Path) -> None:
    rule = PRESETS["ema-0070"].rules[0]
    departure = {"column": "note", "asks": rule.asks, "has": "free text", "source": rule.source}
    preset = {"name": "ema-0070", "title": "t", "departures": [departure]}
    page, made = dossier_of(changed(job, tmp_path, preset=preset), "--template", "ema-0070")
    removed = next(each for each in made["thresholds"] if each["asks"] == rule.asks)
    assert removed["met"] is False
    assert "note: free text" in page
    (tmp_path / "dossier.yaml").unlink()
    page, made = dossier_of(
        changed(job, tmp_path, preset=preset | {"departures": []}), "--template", "ema-0070"
    )
    assert next(each for each in made["thresholds"] if each["asks"] == rule.asks)["met"] is True


def test_three_questions_stand_beside_their_criterion(job: Job, tmp_path: Path) -> None:
    said = [
        {"question": name, "sentence": f"Sentence about {name}."}
        for name in ("singling-out", "linkability", "inference")
    ]
    page, _ = dossier_of(changed(job, tmp_path, three_questions=said))
    for each in said:
        assert page.count(each["sentence"]) == 2
