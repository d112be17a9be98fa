"""Judges what a run has written by code of its own: reading, counting, models, losses, matching, reports."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf, isclose, isinf
from pathlib import Path
from typing import Any

from tests.fuzz.brute_force import Solution, TooClose, Truth, grouped
from tests.fuzz.cases import Case
from tests.fuzz.columns import MISSING, ROOT, Attribute, identity
from tests.fuzz.dialects import table_of
from tests.fuzz.models import Asked, Measured, Records, Unknown, View, exact, over_classes
from tests.fuzz.published import Grammar, Matrix, Published, expected, of_two_levels

Tally = Counter[str]

MOST_NODES = 400
MOST_CHOICES = 25_000
SMALLEST_COUNT = 3


def covers(label: str, value: str, attribute: Attribute) -> bool:
    """Tell whether a published text may stand for a value; labels drawn from the data mean what they say."""
    label = label.partition(" (level ")[0]
    if label in (ROOT, value):
        return True
    if attribute.paths is not None and label in attribute.paths.get(value, ()):
        return True
    if label.startswith("{") and label.endswith("}"):
        return value in (identity(each, attribute.kind) for each in label[1:-1].split(", "))
    if value == MISSING:
        return False
    if attribute.kind == "text":
        low, dots, high = label.partition("..")
        return bool(dots) and low <= value <= high
    return _within(label, value, attribute.kind)


def _within(label: str, value: str, kind: str) -> bool:
    if kind == "date":
        low, _, high = label.strip("[])").partition(", ")
        return low <= value <= high
    if label.startswith("<") and label != MISSING:
        return Fraction(value) < Fraction(label[1:])
    if label.endswith("+"):
        return Fraction(value) >= Fraction(label[:-1])
    if label.startswith("["):
        bounds = label.strip("[])").split(", ")
    else:
        # Ranges with a negative end are written with words.
        bounds = label.split(" to ") if " to " in label else label.replace("..", "-").split("-")
    if len(bounds) != 2:
        return False
    low_number, high_number = map(Fraction, bounds)
    own = Fraction(value)
    return low_number <= own < high_number if label.endswith(")") else low_number <= own <= high_number


def matched(candidates: Sequence[Sequence[int]], right: int) -> bool:
    """Tell whether everyone on the left can have an own candidate on the right (augmenting paths)."""
    owner = [-1] * right

    def placed(left: int, seen: set[int]) -> bool:
        for each in candidates[left]:
            if each not in seen:
                seen.add(each)
                if owner[each] < 0 or placed(owner[each], seen):
                    owner[each] = left
                    return True
        return False

    return all(placed(left, set()) for left in range(len(candidates)))


class Judge:
    """Looks at one run and lists what is wrong.

    Parameters
    ----------
    folder: what ``run`` has written.
    tally: what was looked at, by category; counted up.
    """

    def __init__(self, case: Case, report: dict[str, Any], folder: Path, tally: Tally) -> None:
        self.case = case
        self.report = report
        self.folder = folder
        self.tally = tally
        self.truth = Truth(case)
        self.quasi_identifiers = case.of_role("quasi-identifier")
        self.sensitive = case.of_role("sensitive")

    def findings(self) -> list[str]:
        """Return what is wrong with the run."""
        status = self.report["status"]
        self.tally[f"status: {status}"] += 1
        found: list[str] = []
        if status == "satisfied":
            public = json.loads((self.folder / "share" / "report.public.json").read_text(encoding="utf-8"))
            found += [*self._release(), *self._public(public), *self._hashes(), *self._leaks()]
            found += self._accepted_steps()
        elif (self.folder / "share").exists():
            found.append(f"a release is there, though the status is {status}")
        try:
            found += self._search(status)
        except TooClose:
            self.tally["brute force: left out"] += 1
        return found

    # ---------------------------------------------------------------------------------------------- release

    @property
    def _pair(self) -> bool:
        return self.case.algorithm == "anatomy"

    def _path(self, part: str = "") -> str:
        name, _, suffix = str(self.case.config["output"]["path"]).partition(".")
        return f"{name}.{part}.{suffix}" if part else f"{name}.{suffix}"

    @cached_property
    def published(self) -> Published:
        """The rows of the release."""
        path = self.folder / "share" / self._path("qit" if self._pair else "")
        return Published.read(self.case, self.report, path)

    @cached_property
    def second(self) -> Matrix:
        """The sensitive table of Anatomy."""
        [own] = self.sensitive
        grammar = Grammar(self.case, self.report)
        texts = table_of(self.folder / "share" / self._path("st"), self.case.output)
        return [row | {"s": grammar.value(own, row["s"])} for row in texts]

    def _release(self) -> Iterator[str]:
        released, published = self.report["release"], self.published
        rows = published.rows
        if not rows:
            yield "a release without records"
            return
        yield from self._columns(published.texts)
        if released["rows"] != len(rows):
            yield f"release.rows is {released['rows']}, counted {len(rows)}"
        yield from self._order(published.texts)
        classes = self._anatomy_classes() if self._pair else self._classes(rows)
        if released["classes"] != len(classes):
            yield f"release.classes is {released['classes']}, counted {len(classes)}"
        yield from self._suppressed(rows)
        yield from self._constraints()
        yield from self._unchanged(published)
        if self._pair:
            yield from self._anatomy(rows)
        elif published.records is not None:
            yield from self._labels(published)
        elif self.case.size <= 60:
            yield from self._matching(rows)
        if self.case.algorithm == "microaggregation":
            yield from self._means(rows)
        if not self._pair and self._exact_labels():
            yield from self._losses(rows)

    def _columns(self, texts: Matrix) -> Iterator[str]:
        numbers = self.report["release"].get("numbers") or {}
        columns: list[str] = []
        for each in self.case.attributes:
            kept = each.role in ("quasi-identifier", "sensitive", "insensitive") or each.entry.get("release")
            linked = self.case.linked and each.name == self.case.config["input"]["person"]["column"]
            if kept or linked:
                columns += numbers[each.name]["columns"] if each.name in numbers else [each.name]
        if self._pair:
            columns = [name for name in columns if name != "s"] + ["group"]
        if sorted(texts[0]) != sorted(columns):
            yield f"columns are {sorted(texts[0])}, not {sorted(columns)}"

    def _order(self, texts: Matrix) -> Iterator[str]:
        typed = self._path().endswith("parquet")
        if self.case.config["output"]["order"] != "sorted" or self._pair or self.case.linked or typed:
            return
        self.tally["order of rows"] += 1
        shown = [tuple(row.values()) for row in texts]
        if shown != sorted(shown):
            yield "rows are not sorted by the published texts"

    def _classes(self, rows: Matrix) -> list[list[int]]:
        """Return the positions of rows with equal quasi-identifiers."""
        return grouped(
            {i: tuple(row[each.name] for each in self.quasi_identifiers) for i, row in enumerate(rows)}
        )

    def _anatomy_classes(self) -> list[list[int]]:
        """Return records of the sensitive table by group, numbered as they come."""
        return grouped(dict(enumerate(group for group, _ in self._dealt())))

    def _dealt(self) -> list[tuple[str, str]]:
        return [(row["group"], row["s"]) for row in self.second for _ in range(int(row["count"]))]

    def _suppressed(self, rows: Matrix) -> Iterator[str]:
        """Compare the numbers of suppressed records and cells with what the file shows."""
        released, limit = self.report["release"], self.case.limit
        suppressed, gone = released["suppressed_records"], self.case.size - len(rows)
        self.tally["suppressed records"] += 1
        if self.case.limit_unit == "record" and suppressed > limit:
            yield f"{suppressed} records are suppressed, the limit is {limit}"
        yield from self._lost_units()
        kept_suppressed = sum(all(row[each.name] == ROOT for each in self.quasi_identifiers) for row in rows)
        if gone not in (0, suppressed):
            yield f"{gone} records are missing, suppressed_records is {suppressed}"
        if gone == 0 and suppressed and (not self.truth.keep_rows or kept_suppressed < suppressed):
            yield f"suppressed_records is {suppressed}; only * in {kept_suppressed} of {len(rows)} rows"
        if self.case.method == "cells" and self.report["recoding"]["levels"] is not None:
            yield from self._cells(rows, kept_suppressed if gone == 0 and suppressed else 0, kept_suppressed)

    def _lost_units(self) -> Iterator[str]:
        """Compare the units that lost a record with the limit, and with what must stay whole."""
        if self.published.records is None or len(self.published.records) == self.case.size:
            return
        gone = set(range(self.case.size)) - set(self.published.records)
        unit, whole = self.case.limit_unit, "person" if self.case.linked else self.truth.whole
        lost = {self.case.units[unit][i] for i in gone}
        if len(lost) > self.case.limit:
            yield f"{len(lost)} of {unit} lost a record, the limit is {self.case.limit}"
        if whole is not None:
            self.tally["whole units"] += 1
            own = self.case.units[whole]
            if {own[i] for i in gone} & {own[i] for i in self.published.records}:
                yield f"a {whole} lost some records and not all"

    def _cells(self, rows: Matrix, suppressed: int, kept_suppressed: int) -> Iterator[str]:
        """Compare the number of blanked cells, and the rule of what a suppressed record is.

        Where the levels of a column publish no root, each ``*`` is a blank. A record with nothing but
        ``*`` that is not suppressed has no blank, so each of its columns is at its root.
        """
        self.tally["cells"] += 1
        levels, blanked = self.report["recoding"]["levels"], self.report["recoding"]["blanked_cells"]
        if self.report["release"]["suppressed_cells"] != sum(blanked.values()):
            yield f"suppressed_cells is not the sum of {blanked}"
        can_be_root = True
        for each in self.quasi_identifiers:
            if each.paths is None:
                continue
            own = {each.paths[value][levels[each.name]] for value in each.values}
            can_be_root &= ROOT in own
            if ROOT not in own:
                counted = sum(row[each.name] == ROOT for row in rows) - suppressed
                if counted != blanked[each.name]:
                    yield f"{blanked[each.name]} cells of {each.name} are blanked, counted {counted}"
        if kept_suppressed > suppressed and not can_be_root:
            yield f"{kept_suppressed} rows have nothing but * by blanks, {suppressed} count as suppressed"

    def _views(self, asked: Asked) -> list[View]:
        """Return what a constraint is measured on: the release, with what is known of its records."""
        if self._pair:
            return [self._unmarked([(value,) for _, value in self._dealt()], self._anatomy_classes())]
        rows, records = self.published.rows, self.published.records
        if records is None:
            values = [tuple(row[each.name] for each in self.sensitive) for row in rows]
            return [self._unmarked(values, own) for own in self._known_classes(asked)]
        names = [each.name for each in self.quasi_identifiers]
        labels: list[Any] = [None] * self.case.size
        for i, row in zip(records, rows, strict=True):
            labels[i] = tuple(row[name] for name in names)
        reference = records if self.truth.moving else range(self.case.size)
        levels = (self.report["recoding"] or {}).get("levels")
        own = [levels[name] for name in names] if levels and self.case.method == "classes" else None
        return list(self.truth.views(labels, records, reference, asked, own))

    def _known_classes(self, asked: Asked) -> list[list[list[int]]]:
        rows, names = self.published.rows, [each.name for each in self.quasi_identifiers]
        sets = asked.known or (tuple(names),)
        return [
            grouped({i: tuple(row[name] for name in known) for i, row in enumerate(rows)}) for known in sets
        ]

    def _unmarked(self, values: Sequence[tuple[str, ...]], classes: Sequence[Sequence[int]]) -> View:
        """Return a view of rows that do not say which records they are; the input's follow them."""
        every = [*values, *self.truth.records.values]
        records = Records(every, self.sensitive, {"record": range(len(every))})
        reference = range(len(values)) if self.truth.moving else range(len(values), len(every))
        return View(records, classes, reference)

    def _constraints(self) -> Iterator[str]:
        reported = [
            *self.report["constraints"],
            *(entry for own in self.report.get("scenarios", {}).values() for entry in own["constraints"]),
        ]
        if len(self.truth.asked) != len(reported):
            yield f"{len(reported)} constraints are reported, {len(self.truth.asked)} are asked"
            return
        for asked, entry in zip(self.truth.asked, reported, strict=True):
            if entry["model"] != asked.model or entry["satisfied"] is not True:
                yield f"{asked} is reported as {entry}"
            yield from (f"{asked}: {each}" for each in beyond(asked, entry))
            if self._pair and asked.of_table:
                continue
            try:
                views = self._views(asked)
            except TooClose:
                continue
            yield from self._measured(asked, entry, [over_classes(asked, view) for view in views])

    def _measured(self, asked: Asked, entry: Mapping[str, Any], found: Sequence[Measured]) -> Iterator[str]:
        """Compare what is reported of a constraint with what was counted."""
        self.tally[f"constraints measured: {asked.unit}{' in a scenario' if asked.scenario else ''}"] += 1
        values = [own.value for own in found]
        if any(own.holds is False for own in found):
            yield f"{asked} does not hold on the file: {values}, asked {dict(asked.parameters)}"
        if len(found) > 1 or found[0].value is Unknown:
            return
        if not alike(entry["measured"], found[0].value):
            yield f"{asked}: measured {entry['measured']} is reported, counted {found[0].value}"
        worst = found[0].worst
        if worst is not None and entry["worst_classes"] != worst and not self.case.linked:
            yield f"{asked}: worst_classes {entry['worst_classes']} is reported, counted {worst}"

    def _accepted_steps(self) -> Iterator[str]:
        """No accepted step is better than the release."""
        objective = self.report["search"]["objective"]
        for step in self.report["steps"]:
            self.tally["steps"] += 1
            if step["accepted"] and step["objective"] is not None and less(step["objective"], objective):
                yield f"a step was accepted with {step['objective']}, the release has {objective}"
                return

    def _unchanged(self, published: Published) -> Iterator[str]:
        """Columns that are not recoded keep their texts, of each record or as a whole."""
        own = [each for each in self.case.attributes if each.role in ("sensitive", "insensitive")]
        own = [each for each in own if not (self._pair and each.name == "s")]
        own += [each for each in self.case.of_role("weight") if each.entry.get("release")]
        texts = [[expected(self.case, each, i) for each in own] for i in range(self.case.size)]

        # A missing value has one spelling, also in a column of numbers that are spelled anew.
        spelled = [all(spelling for _, spelling in column) for column in zip(*texts, strict=True)]

        def plain(row: Sequence[str]) -> tuple[str, ...]:
            return tuple(
                cell if spelling else identity(self.case.output.read(cell), each.kind)
                for each, cell, spelling in zip(own, row, spelled, strict=True)
            )

        before = [plain([text for text, _ in row]) for row in texts]
        after = [plain([row[each.name] for each in own]) for row in published.texts]
        if missing := Counter(after) - Counter(before):
            yield f"{[each.name for each in own]} have values that the input lacks: {missing}"
        if published.records is not None:
            for i, row in zip(published.records, after, strict=True):
                if row != before[i]:
                    yield f"record {i} has {row}, not {before[i]}"
                    return

    def _labels(self, published: Published) -> Iterator[str]:
        """Every published text is true of its record, and one value has one spelling."""
        self.tally["labels of records"] += 1
        assert published.records is not None
        if len(set(published.records)) < len(published.records):
            yield "a record is there twice"
        spellings: dict[tuple[str, str], set[str]] = {}
        for i, row, texts in zip(published.records, published.rows, published.texts, strict=True):
            for each in self.quasi_identifiers:
                if self.case.algorithm != "microaggregation" and not covers(
                    row[each.name], each.values[i], each
                ):
                    yield f"{each.name}: {row[each.name]} is published of {each.values[i]}"
                if each.name in texts:
                    spellings.setdefault((each.name, row[each.name]), set()).add(texts[each.name])
        for (name, value), own in spellings.items():
            if len(own) > 1:
                yield f"{name}: {value} is published as {sorted(own)}"

    def _matching(self, rows: Matrix) -> Iterator[str]:
        """Every released record generalizes an input record of its own."""
        self.tally["one to one matching"] += 1
        mean = self.case.algorithm == "microaggregation"
        candidates = []
        for row in rows:
            fits = range(self.case.size)
            for each in self.sensitive:
                fits = [i for i in fits if row[each.name] == each.identities[i]]
            for each in [] if mean else self.quasi_identifiers:
                fits = [i for i in fits if covers(row[each.name], each.values[i], each)]
            candidates.append(fits)
        if not matched(candidates, self.case.size):
            yield "the released records cannot all have come from different input records"

    def _means(self, rows: Matrix) -> Iterator[str]:
        """Means keep the sum of a column where no record is gone, and stay within its range."""
        for each in self.quasi_identifiers:
            originals = [Fraction(value) for value in each.values]
            shown = [Fraction(row[each.name]) for row in rows if row[each.name] != ROOT]
            if any(
                not min(originals) - Fraction(1, 1000) <= own <= max(originals) + Fraction(1, 1000)
                for own in shown
            ):
                yield f"{each.name} has values outside the range of the originals"
            mean = self.case.config["algorithm"]["aggregate"] == "mean"
            if mean and len(shown) == self.case.size:
                self.tally["sums of means"] += 1
                after, before = float(sum(shown)), float(sum(originals))
                if abs(after - before) > self.case.size / 1000:
                    yield f"the means of {each.name} add up to {after}, not {before}"

    def _anatomy(self, rows: Matrix) -> Iterator[str]:
        """Both tables agree, and both are of records of the input."""
        self.tally["anatomy"] += 1
        sizes = Counter(row["group"] for row in rows)
        second = self.second
        counts: Counter[str] = Counter()
        for row in second:
            counts[row["group"]] += int(row["count"])
        if sizes != counts:
            yield "the groups of the two tables have other sizes"
        values = Counter[str]()
        for row in second:
            values[row["s"]] += int(row["count"])
        if values - Counter(self.sensitive[0].identities):
            yield "the second table has sensitive values that the input lacks"
        if all(each.low == 0 for each in self.quasi_identifiers):
            known = Counter(zip(*(each.values for each in self.quasi_identifiers), strict=True))
            shown = Counter(tuple(row[each.name] for each in self.quasi_identifiers) for row in rows)
            if shown - known:
                yield "the first table has quasi-identifiers that the input lacks"
        yield from self._groups(rows, second)

    def _groups(self, rows: Matrix, second: Matrix) -> Iterator[str]:
        """Records that nobody shares show in their group a value that they have."""
        held: dict[str, set[str]] = {}
        for row in second:
            held.setdefault(row["group"], set()).add(row["s"])
        if any(each.low for each in self.quasi_identifiers):
            return
        own: dict[Any, list[str]] = {}
        keys = zip(*(each.values for each in self.quasi_identifiers), strict=True)
        for key, value in zip(keys, self.sensitive[0].identities, strict=True):
            own.setdefault(key, []).append(value)
        for row in rows:
            key = tuple(row[each.name] for each in self.quasi_identifiers)
            if len(own.get(key, ())) == 1 and own[key][0] not in held[row["group"]]:
                yield f"the group of {key} lacks its sensitive value"

    # ----------------------------------------------------------------------------------------------- losses

    def _exact_labels(self) -> bool:
        """Tell whether each published text is a node of a hierarchy that is known here."""
        along = (
            self.case.algorithm in ("lattice", "local", "auto")
            or self.case.config["algorithm"].get("labels") == "hierarchy"
        )
        return along and all(each.paths is not None for each in self.quasi_identifiers)

    def solution(self, rows: Matrix) -> Solution | None:
        """Return what was published as records of cells; None where texts do not tell their levels."""
        levels = (self.report["recoding"] or {}).get("levels")
        suppressed = self.report["release"]["suppressed_records"]
        kept_suppressed = len(rows) == self.case.size and suppressed > 0
        stays = suppressed if kept_suppressed else 0
        places = self.published.records or range(len(rows))
        if len(rows) > self.case.size or len(set(places)) < len(rows):
            return None
        cells: list[Any] = [None] * self.case.size
        for place, row in zip(places, rows, strict=True):
            own = []
            for each in self.quasi_identifiers:
                label = row[each.name]
                level = _level(each, label, levels[each.name] if levels else None)
                if level is None or (not levels and of_two_levels(each, label)):
                    return None
                own.append((label, level))
            if stays and all(label == ROOT for label, _ in own):
                stays -= 1
            else:
                cells[place] = tuple(own)
        order = tuple(levels[each.name] for each in self.quasi_identifiers) if levels else None
        return Solution(tuple(cells), kept_suppressed, order if self.case.method != "cells" else None)

    def _losses(self, rows: Matrix) -> Iterator[str]:
        levels = (self.report["recoding"] or {}).get("levels")
        for each in self.quasi_identifiers if levels else ():
            assert each.paths is not None
            labels = {path[levels[each.name]] for path in each.paths.values()} | {ROOT}
            unknown = {row[each.name] for row in rows} - labels
            if unknown:
                yield f"{unknown} are not labels of {each.name} at level {levels[each.name]}"
        own = self.solution(rows)
        if own is None:
            return
        self.tally["losses computed"] += 1
        known = self.truth.metrics(own)
        for name in known:
            value = self.truth.loss(own, name)
            reported = self.report["loss"][name.replace("-", "_")]
            if not alike(reported, value):
                yield f"{name} is reported as {reported}, computed {value}"
        objective = self.report["search"]["objective"]
        if self.truth.metric in known and not alike(objective, self.truth.objective(own)):
            yield f"the objective is {objective}, computed {self.truth.objective(own)}"

    # ---------------------------------------------------------------------------------------------- reports

    def _public(self, public: dict[str, Any]) -> Iterator[str]:
        """The public report shows what the internal one does, but for what would give somebody away."""
        self.tally["public reports"] += 1
        smallest = max(self.truth.k_of_reports, SMALLEST_COUNT)
        shown = {**public["release"], "input.rows": public["input"]["rows"]}
        own = {**self.report["release"], "input.rows": self.report["input"]["rows"]}
        hidden = 0 < own["suppressed_records"] < smallest
        for key in ("rows", "suppressed_records", "suppressed_cells", "classes", "input.rows"):
            small = 0 < own[key] < smallest or (key == "input.rows" and hidden)
            if shown[key] != (None if small else own[key]):
                yield f"the public report shows {key} {shown[key]}, it is {own[key]}"
        if hidden and any(value is not None for value in public["loss"].values()):
            yield "the public report shows losses that tell how many records are suppressed"
        for mine, theirs in zip(self.report["constraints"], public["constraints"], strict=True):
            if theirs["measured"] not in (None, mine["measured"]) or theirs["satisfied"] != mine["satisfied"]:
                yield f"the public report says {theirs}, the internal one {mine}"
        text = json.dumps(public)
        secrets = [str(self.case.config["seed"]), "in.csv"]
        if self.report["input"]["sha256"] != self.report["release"]["sha256"]:
            secrets.append(self.report["input"]["sha256"])
        yield from (f"the public report has '{each}'" for each in secrets if each in text)

    def _hashes(self) -> Iterator[str]:
        pairs = [(self._path("qit" if self._pair else ""), self.report["release"]["sha256"])]
        if self._pair:
            pairs.append((self._path("st"), self.report["release"]["sensitive_table"]["sha256"]))
        for name, sha256 in pairs:
            if hashlib.sha256((self.folder / "share" / name).read_bytes()).hexdigest() != sha256:
                yield f"the report has another hash of {name}"

    def _leaks(self) -> Iterator[str]:
        """No identifier and no key is in any file."""
        secrets = [cell.encode() for each in self.case.of_role("identifier") for cell in each.cells]
        secrets += [text.encode() for key in self.case.keys for text in key.texts]
        secrets = [each for each in secrets if each]
        for path in self.folder.rglob("*"):
            if secrets and path.is_file():
                content = path.read_bytes()
                content = gzip.decompress(content) if path.suffix == ".gz" else content
                if any(each in content for each in secrets):
                    yield f"{path.name} has an identifier"

    # ----------------------------------------------------------------------------------------------- search

    def _search(self, status: str) -> Iterator[str]:
        """Compare what is claimed about the optimum with what trying everything finds."""
        if any(each.paths is None for each in self.quasi_identifiers):
            return
        search, method = self.report["search"], self.case.method
        nodes = list(self.truth.nodes())
        if self.case.algorithm == "lattice" and len(nodes) <= MOST_NODES:
            if method == "classes":
                yield from self._against("lattice", self.truth.best(self.truth.by_classes), status, search)
            elif method == "records" and self.case.size <= 8:
                yield from self._against("records", self.truth.best(self.truth.by_records), status, search)
            elif method == "cells" and self._few_choices(len(nodes)):
                yield from self._against("cells", self.truth.best_by_cells(), status, search)
        elif self.case.algorithm == "local" and self.case.size <= 6:
            yield from self._against("local", self.truth.best_local(), status, search)
        elif self.case.algorithm in ("mondrian", "microaggregation", "auto") and method == "classes":
            yield from self._any_answer(status, nodes)
        if search["best_possible"] is not None and self.case.size <= 6 and method == "classes":
            self.tally["brute force: best_possible"] += 1
            best, possible = self.truth.best_local(), search["best_possible"]
            if best is not None and less(best, possible):
                yield f"best_possible {possible} is above {best}"

    def _few_choices(self, nodes: int) -> bool:
        return nodes * 2 ** (len(self.quasi_identifiers) * self.case.size) <= MOST_CHOICES

    def _against(self, what: str, best: float | None, status: str, search: dict[str, Any]) -> Iterator[str]:
        self.tally[f"brute force: {what}"] += 1
        objective, bound = search["objective"], search["bound"]
        if status == "infeasible" and best is not None:
            yield f"{what}: infeasible is claimed, {best} is possible"
        elif status == "satisfied":
            if best is None:
                yield f"{what}: a release is there, but nothing should be valid"
                return
            if less(objective, best):
                yield f"{what}: the objective {objective} is below the lowest possible {best}"
            if search["optimal"] and less(best, objective):
                yield f"{what}: {objective} is claimed to be optimal, {best} is possible"
        if best is not None and bound is not None and less(best, bound):
            yield f"{what}: the bound {bound} is above {best}, which is possible"
        exact = self.truth.case.algorithm == "lattice" and what != "cells"
        unlimited = "budget" not in self.case.config
        if exact and unlimited and status == "undecided" and not self.truth.of_table:
            yield f"{what}: undecided without a budget"

    def _any_answer(self, status: str, nodes: list[Any]) -> Iterator[str]:
        """Where everything in one class is valid, no search may say that nothing is."""
        if status != "infeasible" or any("levels" in each.entry for each in self.quasi_identifiers):
            return
        self.tally["brute force: infeasible"] += 1
        if self.truth.by_classes(nodes[-1]) is not None:
            yield "infeasible is claimed, but everything at its root satisfies all constraints"


def _level(attribute: Attribute, label: str, level: int | None) -> int | None:
    assert attribute.paths is not None
    paths = attribute.paths.values()
    found = [at for at in range(len(next(iter(paths)))) if any(path[at] == label for path in paths)]
    if level is not None and label == ROOT and 0 < sum(path[level] == ROOT for path in paths) < len(paths):
        # Some values have it as their own label at this level, others only where they are blanked.
        return None
    if level is not None:
        return level if level in found else -1
    covered = {frozenset(v for v, path in attribute.paths.items() if path[at] == label) for at in found}
    if not found and label == ROOT:
        return -1
    return found[0] if len(covered) == 1 else None


def beyond(asked: Asked, entry: Mapping[str, Any]) -> Iterator[str]:
    """Compare a verdict with the measure beside it: satisfied is what is within the threshold."""
    measured = entry["measured"] if isinstance(entry["measured"], list) else [entry["measured"]]
    if None in measured:
        return
    values = [inf if each == "Infinity" else each for each in measured]
    sides = list(zip(values, thresholds(asked.parameters), strict=True))
    outside = any(less(value, low) or less(high, value) for value, (low, high) in sides)
    inside = all(less(low, value) and less(value, high) for value, (low, high) in sides)
    if outside if entry["satisfied"] else inside:
        yield f"satisfied is {entry['satisfied']}, measured {measured}, asked {dict(asked.parameters)}"


def thresholds(parameters: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the smallest and the largest number that satisfy a model, for each number that it measures.

    Whole numbers have half of one to spare, so that what is equal is clearly within.
    """
    name = parameters["model"]
    if name == "delta-presence":
        return [(float(parameters.get("min", 0)), inf), (-inf, float(parameters["max"]))]
    least = [
        name for name in ("k", "p", "l") if name in parameters and not (name == "l" and "c" in parameters)
    ]
    most = [name for name in ("c", "alpha", "t", "beta", "delta", "max") if name in parameters]
    spare = 0 if name == "entropy-l-diversity" else 0.5
    return [
        *((float(exact(parameters[each])) - spare, inf) for each in least),
        *((-inf, float(exact(parameters[each]))) for each in most),
    ]


def less(one: float, other: float) -> bool:
    """Tell whether a number is clearly below another."""
    return one < other and (isinf(other) or one < other - 1e-9 * max(1.0, abs(other)))


def alike(reported: Any, value: Any) -> bool:
    """Tell whether a number of the report is the one that was counted."""
    if isinstance(value, list | tuple):
        return len(reported) == len(value) and all(map(alike, reported, value))
    if value is None or reported is None:
        return reported is value
    if reported == "Infinity" or value == inf:
        return reported == "Infinity" and value == inf
    return isclose(float(reported), float(value), rel_tol=1e-9, abs_tol=1e-9)
