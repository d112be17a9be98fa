"""report.html: complete, self-contained, and without confidential values."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.report.page import config_text
from tests.run.commands import Job, call, people

VOID = {"meta", "path", "use", "br"}
ATTACKS = ["linkage", {"attack": "vulnerability", "target": "re-identification"}, "homogeneity"]
ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"name": "lattice"},
    "nodes": {"name": "mondrian"},
    "intervals": {"name": "mondrian", "labels": "interval"},
    "sets": {"name": "mondrian", "labels": "set"},
    "local": {"name": "local"},
}


class Seen(HTMLParser):
    """Collects the content of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        """The words of the page."""
        return re.sub(r"\s+", " ", " ".join(self.texts))


def job_of(folder: Path, records: int = 200, **sections: Any) -> Job:
    job = Job(folder).rows(people(records))
    job.config["constraints"] = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}]
    job.config.update(sections)
    return job


def page_of(job: Job, *args: str) -> str:
    done = job.run("--overwrite", *args)
    assert done.code == 0, done.err
    return (job.output / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = job_of(tmp_path_factory.mktemp("page"), attacks=ATTACKS)
    page_of(made)
    return made


@pytest.fixture(scope="module")
def page(job: Job) -> str:
    return (job.output / "report.html").read_text(encoding="utf-8")


def check_form(page: str) -> Seen:
    """Check what every page must be."""
    seen = Seen(page)
    assert seen.open == []
    assert page.startswith("<!DOCTYPE html>")
    assert seen.all("html")[0]["lang"] == "en"
    assert [len(seen.all(tag)) for tag in ("h1", "main", "title")] == [1, 1, 1]
    ids = [each["id"] for _, each in seen.tags if "id" in each]
    assert [name for name, times in Counter(ids).items() if times > 1] == []
    targets = [each.get("href") or each.get("xlink:href") for tag in ("a", "use") for each in seen.all(tag)]
    assert [target for target in targets if not (target or "").startswith("#")] == []
    assert {str(target)[1:] for target in targets} <= set(ids)
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(ids)
    assert seen.all("a")[0]["class"] == "skip"
    assert seen.all("script") == seen.all("link") == seen.all("img") == seen.all("iframe") == []
    assert len(seen.all("caption")) == len(seen.all("table"))
    assert all(each.get("scope") in ("col", "row") for each in seen.all("th"))
    for svg in seen.all("svg"):
        assert svg["role"] == "img"
        assert svg["aria-label"]
    scrolled = [each for _, each in seen.tags if "scroll" in (each.get("class") or "").split()]
    assert all(
        each["tabindex"] == "0" and each["role"] == "region" and each["aria-label"] for each in scrolled
    )
    outside = set(re.findall(r"\bhttps?://[^\s\"'<>)]+", page))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert len(page.encode()) < 2_000_000
    return seen


def test_a_run_that_counts_persons_says_how_many_each_class_has(tmp_path: Path) -> None:
    records = [(f"person {number // 2}", *row[1:]) for number, row in enumerate(people(120))]
    job = job_of(tmp_path, attacks=[]).rows(records).set("input", person="name")
    job.constraints({"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2}).write()
    text = " ".join(check_form(page_of(job)).texts)
    (first, second) = job.report()["constraints"]
    assert f"Each class has records of at least {first['measured']:,} persons." in text
    for each in (first, second):
        number = each["worst_classes"]
        shown = "fewer than 3" if number < 3 else f"{number:,}"
        assert f"{shown}, counted by person" in text
    assert "a random person is correct, of an adversary who knows quasi-identifiers of every record" in text
    assert "the number of classes divided by the number of records" not in text


def test_warnings_begin_with_a_capital_letter_or_a_name(tmp_path: Path) -> None:
    records = [(f"person {number // 2}", *row[1:]) for number, row in enumerate(people(120))]
    job = job_of(tmp_path, attacks=[]).rows(records)
    job.config["attributes"] |= {"age": {"role": "insensitive"}, "sex": {"role": "insensitive"}}
    job.config["attributes"]["diagnosis"] = {"role": "quasi-identifier"}
    job.constraints({"model": "k-anonymity", "k": 3}).write()
    page = page_of(job)
    assert job.report()["warnings"]
    shown = re.search('<div class="warnings">(.*?)</div>', page, re.DOTALL)
    assert shown is not None
    warnings = job.report()["warnings"]
    for own, item in zip(warnings, re.findall("<li>(.*?)</li>", shown[1])[-len(warnings) :], strict=True):
        named = own.startswith(("age", "sex"))
        text = re.sub("<[^>]+>", "", item)
        assert text[0] == (own[0] if named else own[0].upper())


def test_parameters_that_are_lists_and_mappings_are_shown(tmp_path: Path) -> None:
    job = job_of(tmp_path, attacks=[])
    known = {"model": "uniqueness", "max": 0.5, "knowledge": ["age"]}
    job.constraints({"model": "prosecutor-risk", "max": 0.5, "at": {"share-above": 0.3}}, known).write()
    text = " ".join(check_form(page_of(job)).texts)
    assert "max = 0.5, at = share-above 0.3" in text
    assert "max = 0.5, knowledge = age" in text


def test_the_page_has_every_section_and_chart(page: str) -> None:
    seen = check_form(page)
    ids = {each.get("id") for _, each in seen.tags}
    sections = {"verdict", "promises", "risk", "lost", "groups", "search", "repeat", "glossary"}
    assert sections <= ids
    prefixes = {str(each).split("-")[0] for each in ids if str(each).endswith("-box")}
    assert {"attacks", "knowledge", "losses", "distribution0", "groups", "search"} <= prefixes
    assert "Both constraints are satisfied" in seen.text
    assert "share/release.csv" in seen.text


def test_charts_take_their_colours_from_the_page(page: str) -> None:
    charts = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(charts) >= 6
    for chart in charts:
        assert re.findall(r"#[0-9a-fA-F]{6}\b", chart) == []
        assert "var(--" in chart
        assert "<metadata" not in chart
        assert "DejaVu" not in chart
    used = set(re.findall(r"var\(--([a-z-]+)\)", page))
    light, dark = (
        set(re.findall(r"--([a-z-]+): #", block))
        for block in re.findall(r":root \{(.*?)\}", page, re.DOTALL)[:2]
    )
    assert used - {"width"} <= light == dark


def test_not_run_is_not_zero(page: str, job: Job) -> None:
    text = Seen(page).text
    by_threat = {row["threat"]: row for row in job.report()["attack_matrix"]}
    assert by_threat["homogeneity"]["success"] is not None
    assert by_threat["skewness"]["success"] is None
    assert re.search(r"homogeneity – stops \S+ % \(guess", text)
    assert re.search(r"skewness – – not run not measured", text)
    assert "No attack was run" in Seen(page_without_attacks(job)).text


def page_without_attacks(job: Job) -> str:
    other = job_of(job.folder / "without" if (job.folder / "without").mkdir() is None else job.folder)
    return page_of(other)


def test_the_config_on_the_page_runs_and_gives_the_same_release(page: str, job: Job, tmp_path: Path) -> None:
    text = config_text(job.report())
    assert text.rstrip() in html.unescape(page)
    again = job.folder / "again.yaml"
    again.write_text(text, encoding="utf-8")
    assert load_config(again).to_dict() == job.report()["config"]
    assert call("run", again, "-o", tmp_path / "again").code == 0
    assert (tmp_path / "again" / "share" / "release.csv").read_bytes() == job.release.read_bytes()
    # Commands name the config.
    own = (tmp_path / "again" / "report.html").read_text(encoding="utf-8")
    run = "anonymizer run again.yaml -o again-release-"
    assert run in own
    assert own.replace(run, "anonymizer run job.json -o job-release-") == page


def test_every_file_that_is_kept_is_named(page: str, job: Job) -> None:
    kept = page[page.index("Keep</h2>") :]
    for path in job.output.iterdir():
        assert path.name == "share" or f"<code>{path.name}</code>" in kept[: kept.index("</ul>")]


def test_no_path_of_this_machine_is_shown(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    job.config["input"]["path"] = str(tmp_path / "people.csv")
    page = page_of(job)
    assert str(tmp_path) not in page
    assert "path: people.csv" in page


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_page_works_for_every_kind_of_recoding(algorithm: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, 120, algorithm=ALGORITHMS[algorithm])
    seen = check_form(page_of(job))
    assert ALGORITHMS[algorithm]["name"] in seen.text


def test_the_page_works_for_anatomy(tmp_path: Path) -> None:
    job = job_of(tmp_path, 120, algorithm={"name": "anatomy"}, attacks=["vulnerability"])
    job.config["constraints"] = [{"model": "l-diversity", "l": 3}]
    seen = check_form(page_of(job))
    for name in ("share/release.qit.csv", "share/release.st.csv", "not who is in the file"):
        assert name in seen.text
    assert "shares its published quasi-identifiers" not in seen.text


def test_the_page_works_for_means_dates_and_blanked_cells(tmp_path: Path) -> None:
    rows = [(name, age, f"19{50 + int(age)}-0{1 + int(age) % 9}-11"[:10] if int(age) < 50 else "2001-01-01",
             sex, diagnosis, note) for name, age, _, sex, diagnosis, note in people(120)]  # fmt: skip
    job = job_of(tmp_path, algorithm={"name": "microaggregation", "k": 5}).rows(rows)
    job.config["constraints"] = [{"model": "k-anonymity", "k": 5}]
    job.attribute("zip", role="quasi-identifier", type="date").attribute("sex", role="insensitive")
    job.attribute("age", role="quasi-identifier", type="integer")
    seen = check_form(page_of(job))
    assert "ntervals with round ends" in seen.text
    cells = job_of(tmp_path, 60)
    cells.config["constraints"] = [{"model": "k-anonymity", "k": 3}]
    cells.set("suppression", limit=0.2, method="cells").set("budget", seconds=5)
    check_form(page_of(cells))


def test_a_small_number_of_suppressed_records_is_not_shown(tmp_path: Path) -> None:
    odd = [("odd one", "20", "0999", "X", "flu", "note 1"), ("odd two", "59", "0888", "Y", "flu", "note 1")]
    job = job_of(tmp_path).rows([*people(200), *odd]).set("suppression", limit=0.01)
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    text = Seen(page_of(job)).text
    assert job.report()["release"]["suppressed_records"] == 2
    assert "all but fewer than 5 of 202 records" in text
    assert "200 of 202" not in text
    assert not re.search(r"\b2 of 202\b", text)


def test_texts_of_people_are_escaped(tmp_path: Path) -> None:
    rows = [(*row[:3], "<b>$F & $" if row[3] == "F" else "M", *row[4:]) for row in people(200)]
    job = job_of(tmp_path).rows(rows)
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    page = page_of(job)
    check_form(page)
    assert "<b>" not in page
    assert page.count("&lt;b&gt;$F &amp; $") >= 2


def test_a_refusal_writes_no_page(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    job.config["constraints"] = [{"model": "l-diversity", "l": 9}]
    assert job.run().code == 1
    assert not job.output.exists()


@pytest.mark.parametrize(
    ("loss", "said"),
    [(0.0, "Released unchanged: sex."), (0.02, "Released unchanged, except in suppressed records: sex.")],
)
def test_a_column_at_level_0_may_have_lost_records(loss: float, said: str) -> None:
    from anonymizer.report.facts import AttributeLoss, Facts
    from anonymizer.report.page import losses_chart

    sex = AttributeLoss("sex", loss, 1.0, 0, 1, 2, 2)
    chart = losses_chart(Facts(5, 5, (sex,), (), (), (), ()))
    assert chart is not None
    assert chart.finding.endswith(said)


def test_a_contradicted_claim_is_the_first_thing_said(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    page_of(job)
    from anonymizer.model.report import Report
    from anonymizer.model.warning import Harm, Warned
    from anonymizer.report.facts import Facts
    from anonymizer.report.page import verdict_of
    from anonymizer.report.wording import LOOK_AGAIN

    content = Report(json.loads((job.output / "report.json").read_text(encoding="utf-8"))).to_dict()
    content["attack_matrix"][0]["contradicted"] = True
    content["warnings"] = [f"{LOOK_AGAIN}linkage succeeds", "another warning", Warned("tidied", Harm.NOTE)]
    verdict = verdict_of(content, Facts(5, 5, (), (), (), (), (None, None)))
    assert not verdict.calm
    assert "attack" in verdict.title
    assert verdict.warnings[-2:] == (f"{LOOK_AGAIN}linkage succeeds", "Another warning")
    assert verdict.notes == ("Tidied",)
