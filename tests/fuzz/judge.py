"""Judges what a run has written by code of its own: reading, counting, models, losses, matching, reports."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf, isclose
from pathlib import Path
from typing import Any

from tests.fuzz.brute_force import Solution, TooClose, Truth
from tests.fuzz.cases import MISSING, ROOT, Attribute, Case
from tests.fuzz.models import Record, entries, over_classes

Tally = Counter[str]
Matrix = list[dict[str, str]]

MOST_NODES = 400
MOST_CHOICES = 25_000
SMALLEST_COUNT = 3


def table_of(path: Path) -> Matrix:
    """Return the rows of a CSV file by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def covers(label: str, value: str, attribute: Attribute) -> bool:
    """Tell whether a published text may stand for a value; labels drawn from the data mean what they say."""
    label = label.partition(" (level ")[0]
    if label in (ROOT, value):
        return True
    if attribute.paths is not None and label in attribute.paths.get(value, ()):
        return True
    if label.startswith("{") and label.endswith("}"):
        return value in label[1:-1].split(", ")
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
            rows = self._rows()
            found += [*self._release(rows), *self._public(public), *self._hashes(), *self._leaks()]
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

    def _rows(self) -> Matrix:
        name = "release.qit.csv" if self._pair else "release.csv"
        return table_of(self.folder / "share" / name)

    def _release(self, rows: Matrix) -> Iterator[str]:
        released = self.report["release"]
        columns = [each.name for each in self.case.attributes if each.role != "identifier"]
        if self._pair:
            columns = [name for name in columns if name != "s"] + ["group"]
        if rows and sorted(rows[0]) != sorted(columns):
            yield f"columns are {sorted(rows[0])}"
        if not rows:
            yield "a release without records"
            return
        if released["rows"] != len(rows):
            yield f"release.rows is {released['rows']}, counted {len(rows)}"
        yield from self._order(rows)
        classes = self._anatomy_classes(rows) if self._pair else self._classes(rows)
        if released["classes"] != len(classes):
            yield f"release.classes is {released['classes']}, counted {len(classes)}"
        yield from self._suppressed(rows)
        yield from self._constraints(classes)
        yield from self._same_records(rows)
        if self._pair:
            yield from self._anatomy(rows)
        elif self.case.size <= 60:
            yield from self._matching(rows)
        if not self._pair and self._exact_labels():
            yield from self._losses(rows)

    def _order(self, rows: Matrix) -> Iterator[str]:
        if self.case.config["output"]["order"] != "sorted" or self._pair:
            return
        self.tally["order of rows"] += 1
        shown = [tuple(row.values()) for row in rows]
        if shown != sorted(shown):
            yield "rows are not sorted by the published texts"

    def _classes(self, rows: Matrix) -> list[list[Record]]:
        found: dict[Any, list[Record]] = {}
        for row in rows:
            key = tuple(row[each.name] for each in self.quasi_identifiers)
            found.setdefault(key, []).append(tuple(row[each.name] for each in self.sensitive))
        return list(found.values())

    def _anatomy_classes(self, rows: Matrix) -> list[list[Record]]:
        found: dict[str, list[Record]] = {}
        for row in table_of(self.folder / "share" / "release.st.csv"):
            found.setdefault(row["group"], []).extend([(row["s"],)] * int(row["count"]))
        return list(found.values())

    def _suppressed(self, rows: Matrix) -> Iterator[str]:
        """Compare the numbers of suppressed records and cells with what the file shows."""
        released, limit = self.report["release"], self.case.limit
        suppressed, gone = released["suppressed_records"], self.case.size - len(rows)
        self.tally["suppressed records"] += 1
        if suppressed > limit:
            yield f"{suppressed} records are suppressed, the limit is {limit}"
        kept_suppressed = sum(all(row[each.name] == ROOT for each in self.quasi_identifiers) for row in rows)
        if gone not in (0, suppressed):
            yield f"{gone} records are missing, suppressed_records is {suppressed}"
        if gone == 0 and suppressed and (not self.truth.keep_rows or kept_suppressed < suppressed):
            yield f"suppressed_records is {suppressed}; only * in {kept_suppressed} of {len(rows)} rows"
        if self.case.method == "cells" and self.report["recoding"]["levels"] is not None:
            yield from self._cells(rows, kept_suppressed if gone == 0 and suppressed else 0, kept_suppressed)

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

    def _constraints(self, classes: Sequence[Sequence[Record]]) -> Iterator[str]:
        reference = [row for own in classes for row in own]
        if self.case.config["reference"] == "input":
            reference = self.truth.records
        own = entries(self.case.config["constraints"], self.sensitive)
        reported = self.report["constraints"]
        if len(own) != len(reported):
            yield f"{len(reported)} constraints are reported, {len(own)} are asked"
            return
        for (asked, name), entry in zip(own, reported, strict=True):
            where = f"{asked['model']}({name})"
            if entry["model"] != asked["model"] or entry["satisfied"] is not True:
                yield f"{where} is reported as {entry}"
            if self._pair and asked["model"] == "vulnerability":
                continue
            self.tally["constraints measured"] += 1
            found = over_classes(asked, classes, reference, self.sensitive, name)
            if found.holds is False:
                yield f"{where} does not hold on the file: {found.value}, asked {asked}"
            if not alike(entry["measured"], found.value):
                yield f"{where}: measured {entry['measured']} is reported, counted {found.value}"
            if found.worst is not None and entry["worst_classes"] != found.worst:
                yield f"{where}: worst_classes {entry['worst_classes']} is reported, counted {found.worst}"

    def _same_records(self, rows: Matrix) -> Iterator[str]:
        """Columns that are not recoded keep their values."""
        names = [each.name for each in self.case.attributes if each.role in ("sensitive", "insensitive")]
        names = [name for name in names if not (self._pair and name == "s")]
        kept = {each.name: each.cells for each in self.case.attributes}
        before = Counter(zip(*(kept[name] for name in names), strict=True)) if names else Counter()
        after = Counter(tuple(row[name] for name in names) for row in rows) if names else Counter()
        if after - before:
            yield f"{names} have values that the input lacks: {after - before}"

    def _matching(self, rows: Matrix) -> Iterator[str]:
        """Every released record generalizes an input record of its own."""
        self.tally["one to one matching"] += 1
        mean = self.case.algorithm == "microaggregation"
        columns = [each for each in self.case.attributes if each.role != "identifier"]
        if mean:
            yield from self._means(rows)
        candidates = []
        for row in rows:
            fits = range(self.case.size)
            for each in columns:
                if each.role != "quasi-identifier":
                    fits = [i for i in fits if row[each.name] == each.cells[i]]
                elif not mean:
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
        second = table_of(self.folder / "share" / "release.st.csv")
        counts: Counter[str] = Counter()
        for row in second:
            counts[row["group"]] += int(row["count"])
        if sizes != counts:
            yield "the groups of the two tables have other sizes"
        values = Counter[str]()
        for row in second:
            values[row["s"]] += int(row["count"])
        if values - Counter(self.sensitive[0].cells):
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
        for key, value in zip(keys, self.sensitive[0].cells, strict=True):
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
        stays = suppressed if len(rows) == self.case.size else 0
        cells: list[Any] = []
        for row in rows:
            own = []
            for each in self.quasi_identifiers:
                label = row[each.name]
                level = _level(each, label, levels[each.name] if levels else None)
                if level is None:
                    return None
                own.append((label, level))
            if stays and all(label == ROOT for label, _ in own):
                stays -= 1
                cells.append(None)
            else:
                cells.append(tuple(own))
        kept_suppressed = len(rows) == self.case.size and suppressed > 0
        cells += [None] * (self.case.size - len(rows))
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
            value = self.truth.objective(own, name, "arithmetic-mean")
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
        smallest = max(self.truth.k or 0, SMALLEST_COUNT)
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
        pairs = [(self._path("qit") if self._pair else "release.csv", self.report["release"]["sha256"])]
        if self._pair:
            pairs.append((self._path("st"), self.report["release"]["sensitive_table"]["sha256"]))
        for name, sha256 in pairs:
            if hashlib.sha256((self.folder / "share" / name).read_bytes()).hexdigest() != sha256:
                yield f"the report has another hash of {name}"

    def _path(self, part: str) -> str:
        return f"release.{part}.csv"

    def _leaks(self) -> Iterator[str]:
        """No identifier is in any file."""
        people = self.case.of_role("identifier")
        for path in self.folder.rglob("*"):
            if people and path.is_file():
                content = path.read_bytes()
                content = gzip.decompress(content) if path.suffix == ".gz" else content
                if any(cell.encode() in content for cell in people[0].cells):
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
        if exact and status == "undecided" and not self.truth.of_table:
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


def less(one: float, other: float) -> bool:
    """Tell whether a number is clearly below another."""
    return one < other - 1e-9 * max(1.0, abs(other))


def alike(reported: Any, value: Any) -> bool:
    """Tell whether a number of the report is the one that was counted."""
    if isinstance(value, list | tuple):
        return len(reported) == len(value) and all(map(alike, reported, value))
    if value is None or reported is None:
        return reported is value
    if reported == "Infinity" or value == inf:
        return reported == "Infinity" and value == inf
    return isclose(float(reported), float(value), rel_tol=1e-9, abs_tol=1e-9)
