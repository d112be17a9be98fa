"""README.txt: the legend of a release for its recipient, a function of the public report alone."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from textwrap import wrap
from typing import Any

from anonymizer.errors import listed, plural
from anonymizer.hierarchy.source import HIERARCHY_SOURCES
from anonymizer.model.invocation import command, path_word
from anonymizer.model.labels import (
    CLOSED,
    LED_BY_NUMBER,
    MISSING,
    OPEN,
    OTHERS,
    SET,
    SUPPRESSED,
    Form,
    first_number,
)
from anonymizer.model.units import PERSON
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.report.public import LEFT_OUT

WIDTH = 80
"""Characters of a line."""

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}

_IN_R = {"utf-8-sig": "UTF-8-BOM", "utf-8": "UTF-8", "iso8859-1": "latin1"}
"""Encodings that R calls otherwise than Python."""

HEAD = "About this release\n==================\n"
"""Beginning of every legend, by which ``run`` recognizes its own."""

_UNCHANGED = {
    "sensitive": "unchanged (sensitive)",
    "weight": "unchanged; a sampling weight: how many records of the population one stands for",
}
"""What roles other than quasi-identifier say of a released column; others are unchanged."""

_BY_LABELS = {"interval": "ranges of values", "set": "sets of values"}
"""What a column contains by ``labels`` of an algorithm."""


def _mondrian_forms(labels: str, kind: str | None) -> tuple[Form, ...]:
    """Return the forms of Mondrian's own labels: ranges of numbers and dates, sets of texts."""
    if labels == "set" or kind == "text":
        return (SET,)
    return (CLOSED,) if kind else (CLOSED, SET)


_CODES = "codes, whose labels are the values that are explained here"
_STORED = {".sav": _CODES, ".dta": _CODES, ".xlsx": "texts, or numbers where all of a column are numbers"}
"""How generalized values are stored, by the suffix of a file with types; in others as texts."""

_HIDDEN = Form(SUPPRESSED, "any value: hidden")
_HIDDEN_COLUMN = "hidden (*)"


def legend(public: Mapping[str, Any]) -> str:
    """Return the legend of a release.

    Parameters
    ----------
    public: content of the public report.
    """
    parts = [
        HEAD + "\n" + "\n".join(_paragraph(_about(public))),
        "\n".join(["Conditions that hold for these records:", *_conditions(public)]),
        "\n".join(["Columns:", *_columns(public)]),
        "\n".join(["Values:", *_forms(public)]),
        "\n".join(_paragraph(_further(public))),
        "\n".join(_reading(public)),
        "\n".join([*_paragraph(_verifying(public)), f"  {command('audit', path_word(_name(public)))}"]),
    ]
    return "\n\n".join(parts) + "\n"


def _name(public: Mapping[str, Any]) -> str:
    return PurePath(public["release"]["path"]).name


def _is_text(public: Mapping[str, Any]) -> bool:
    return public["release"]["separator"] is not None


def _about(public: Mapping[str, Any]) -> str:
    release = public["release"]
    rows = "Records" if release["rows"] is None else f"{release['rows']:,} records"
    written = ""
    if _is_text(public):
        separator = _SEPARATORS.get(release["separator"], json.dumps(release["separator"]))
        written = f", with a {separator} between fields, encoding {release['encoding']}"
    if "sensitive_table" not in release:
        return f"{_name(public)}: {rows}{written}. Details of persons were made coarser or left out."
    other = PurePath(release["sensitive_table"]["path"]).name
    return (
        f"{_name(public)} and {other}: {rows}{written}. The first file has the records and the number of "
        f"their group, the second how often each sensitive value occurs in a group. Which record of a group "
        "has which value is hidden."
    )


def _conditions(public: Mapping[str, Any]) -> Iterator[str]:
    for each in public["constraints"]:
        name = _condition(each)
        given = ", ".join(f"{key} {_plain(value)}" for key, value in each["parameters"].items())
        yield from _item((f"{name}: {given}" if given else name) + _attacker(each))
    for scenario in public.get("scenarios", {}).values():
        yield from _item(scenario["sentence"].removesuffix("."))
    units = {each["parameters"]["unit"] for each in _judged(public) if "unit" in each["parameters"]}
    pseudonym = pseudonym_of(public)
    for unit in sorted(units):
        if unit == PERSON and pseudonym is not None:
            yield from _item(
                f"unit person: {_shown(pseudonym)} tells which rows are of one person; a class has the "
                "persons whose rows are the same, and the constraints hold for it, and for each of its rows"
            )
            continue
        yield from _item(
            f"unit {unit}: all records of one {unit} count once; {_name(public)} does not say which these "
            "are, so only its author could count them"
        )


def _condition(constraint: Mapping[str, Any]) -> str:
    """Return the name of a constraint with its attribute."""
    name, attribute = str(constraint["model"]), constraint["attribute"]
    return f"{name} ({_shown(attribute)})" if attribute else name


def _counted(constraint: Mapping[str, Any]) -> str:
    """Return the name of a constraint with its attribute and its unit."""
    unit = constraint["parameters"].get("unit")
    return _condition(constraint) + (f" by {unit}" if unit else "")


def _attacker(constraint: Mapping[str, Any]) -> str:
    """Return by which attack alone a condition holds, empty if it holds whoever attacks."""
    model, given = PRIVACY_MODELS.get(constraint["model"]), constraint["parameters"]
    if model is None or not model.by_attack:
        return ""
    attack = given.get("linkage", given.get("attack", constraint["model"].removesuffix("-risk")))
    return f"; by the attacker {_plain(attack)}, while others may succeed more often"


def _columns(public: Mapping[str, Any]) -> Iterator[str]:
    for name, settings in public["config"]["attributes"].items():
        if name == pseudonym_of(public):
            yield from _item(f"{_shown(name)}: a random number for each person, the same in all rows of one")
            continue
        if settings["role"] in LEFT_OUT or settings.get("release") is False:
            continue
        names = _numbers(public).get(name, {"columns": [name]})["columns"]
        yield from _item(f"{', '.join(map(_shown, names))}: {content_of(public, name)[0]}")


def pseudonym_of(public: Mapping[str, Any]) -> str | None:
    """Return the column of pseudonyms of persons, None without one."""
    person = public["config"].get("input", {}).get("person")
    return person["column"] if isinstance(person, Mapping) else None


def content_of(public: Mapping[str, Any], name: str) -> tuple[str, tuple[Form, ...]]:
    """Return what a column contains, and the forms of its generalized values."""
    settings, algorithm = public["config"]["attributes"][name], public["config"]["algorithm"]
    levels = public["recoding"].get("levels")
    level = None if levels is None else levels.get(name)
    if settings["role"] != "quasi-identifier" and "labels" in settings:
        return _in_groups(settings)
    if settings["role"] != "quasi-identifier" or name in _numbers(public):
        return _UNCHANGED.get(settings["role"]) or in_numbers(public, name), ()
    if level == 0:
        return _ungeneralized(public, name), ()
    if public["recoding"].get("aggregate") is not None:
        return f"the {public['recoding']['aggregate']} of similar records", ()
    if algorithm.get("labels") in _BY_LABELS:
        labels = algorithm["labels"]
        return _BY_LABELS[labels], _mondrian_forms(labels, settings.get("type"))
    return _along_hierarchy(settings, level, varies=levels is None)


def _in_groups(settings: Mapping[str, Any]) -> tuple[str, tuple[Form, ...]]:
    """Return the same for a column that is not generalized, but released in groups."""
    what, forms = _along_hierarchy(settings, 1, varies=False)
    what = what.removesuffix(", level 1")
    if settings["labels"] == "midpoint":
        what, forms = "the middle of an interval that the value lies in", ()
    return f"{what} (sensitive)" if settings["role"] == "sensitive" else what, forms


def _along_hierarchy(
    settings: Mapping[str, Any], level: int | None, *, varies: bool
) -> tuple[str, tuple[Form, ...]]:
    """Return the same for a column that is recoded along its hierarchy.

    Parameters
    ----------
    varies: whether the level varies by record; else it is not public if it is None.
    """
    hierarchy = settings.get("hierarchy") or {}
    name = next((key for key in hierarchy if key in HIERARCHY_SOURCES), None)
    if name is None:
        own = "groups of a hierarchy" if hierarchy else _HIDDEN_COLUMN
        return ("unchanged, or * where that would disclose too much" if varies else own), ()
    source, parameters = HIERARCHY_SOURCES[name], hierarchy[name]
    if level is not None and source.by_level is not None and level > len(parameters[source.by_level]):
        return _HIDDEN_COLUMN, ()
    shown = ", some finer than others" if varies else "" if level is None else f", level {level}"
    return source.content + shown, source.forms(parameters, settings.get("type"), level)


def _numbers(public: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the columns that contain numbers in place of intervals."""
    numbers: Mapping[str, Any] = public["release"].get("numbers", {})
    return numbers


def in_numbers(public: Mapping[str, Any], name: str) -> str:
    """Return what the columns of a quasi-identifier in numbers contain; others are unchanged."""
    own, level = _numbers(public).get(name), (public["recoding"].get("levels") or {}).get(name)
    if own is None:
        return "unchanged"
    missing = own["empty"] == MISSING
    empty = "empty: the value was missing in the original" if missing else "empty: any value, hidden"
    if level == 0:
        return f"numbers, not made coarser; {empty}"
    if own["high"] is None:
        return f"the middle of an interval that the value lies in; {empty}"
    ends = "both included" if own["high"] == "included" else "the upper one excluded unless both are equal"
    return (
        f"lower and upper end of an interval that the value lies in, {ends}; one empty: no such end; "
        f"both {empty}"
    )


def _ungeneralized(public: Mapping[str, Any], name: str) -> str:
    """Return what a column contains that was not made coarser."""
    dated = public["config"]["attributes"][name].get("format") is not None
    what = "dates like 2024-05-31 (ISO 8601), not made coarser" if dated else "unchanged"
    return f"{what}, or * where hidden" if _may_be_hidden(public, name) else what


def _may_be_hidden(public: Mapping[str, Any], name: str) -> bool:
    """Return whether cells of a column are suppressed that would otherwise be unchanged."""
    return public["config"]["suppression"]["keep_rows"] or name in public["recoding"].get("blanked_cells", {})


def _forms(public: Mapping[str, Any]) -> Iterator[str]:
    """Yield the forms of the values of generalized columns, each once."""
    names = public["config"]["attributes"]
    forms = dict.fromkeys(form for name in names for form in _forms_in(public, name))
    for form in (*forms, _HIDDEN, _missing(public)):
        yield from _item(f"{form.example}: {form.meaning}")


def _forms_in(public: Mapping[str, Any], name: str) -> Iterator[Form]:
    """Yield the forms in a column; a label that leaves values out with these values, where they are known."""
    left_by = public["release"].get("left_by", {}).get(name, {})
    for form in content_of(public, name)[1]:
        if form is not OTHERS or not left_by:
            yield form
        for label, own in left_by.items() if form is OTHERS else ():
            yield Form(
                f"{label} (in {_shown(name)})", f"another value than {listed_left(own)}, unknown which"
            )


def listed_left(left: Mapping[str, Any]) -> str:
    """Return the values that a label leaves out; those that the release does not have are counted."""
    values = [json.dumps(each, ensure_ascii=False) for each in left["values"]]
    if left["more"]:
        values.append(f"{plural(left['more'], 'other' if values else 'value')} not listed here")
    return listed(values)


def _missing(public: Mapping[str, Any]) -> Form:
    """Return how missing values look: in unchanged columns as in the original, unless they have a marker."""
    marker = public["config"]["output"].get("missing")
    if marker is not None:
        text = _shown(marker) if marker else "an empty field"
        return Form(text if _is_text(public) else "null", "the value was missing in the original")
    texts = [_shown(text) for text in public["config"]["input"]["missing"]]
    own = f"; in unchanged columns {' or '.join(texts)}" if texts else ""
    return Form(MISSING, f"the value was missing in the original{own}")


def _further(public: Mapping[str, Any]) -> str:
    """Return which files say more."""
    what = "codebook.csv says for each column and value what it means and what may be computed from it."
    return (
        f"{what} The other .json files describe the tables for programs (CSVW)." if _is_text(public) else what
    )


def _ranges(public: Mapping[str, Any]) -> str | None:
    """Return a column with ranges of numbers, None without one."""
    columns = public["config"]["attributes"]
    found = (name for name, own in columns.items() if own.get("type") in ("integer", "number"))
    return next((name for name in found if LED_BY_NUMBER.intersection(content_of(public, name)[1])), None)


def _reading(public: Mapping[str, Any]) -> Iterator[str]:
    if not _is_text(public):
        numbers = ", numbers in place of intervals excepted" if _numbers(public) else ""
        others = "the others have the types of the original."
        what = _STORED.get(PurePath(_name(public)).suffix, "texts")
        yield from _paragraph(f"Generalized columns are {what}{numbers}; {others}")
        return
    name, release = json.dumps(_name(public)), public["release"]
    separator, encoding = json.dumps(release["separator"]), release["encoding"]
    in_r = _IN_R.get(codecs.lookup(encoding).name, encoding)
    yield "To read all values as texts, in Python and in R:"
    yield "  import pandas"
    yield f"  records = pandas.read_csv({name}, sep={separator}, dtype=str,"
    yield f'                            encoding="{encoding}", keep_default_na=False)'
    yield ""
    yield f"  records <- read.csv({name}, sep = {separator}, na.strings = character(),"
    yield f'      colClasses = "character", check.names = FALSE, fileEncoding = "{in_r}")'
    column = _ranges(public)
    if column is not None:
        yield ""
        open_ended = OPEN in content_of(public, column)[1]
        without = "* and <20 have none and come" if open_ended else "* has none and comes"
        yield f"To sort ranges by their lower end; {without} first:"
        config = public["config"]
        yield from _sorting(column, config["output"].get("decimal") or config["input"]["decimal"])


def _sorting(column: str, decimal: str) -> Iterator[str]:
    """Yield how to sort ranges of numbers: by their first number."""
    name, number = json.dumps(column, ensure_ascii=False), first_number(decimal)
    pointed = "" if decimal == "." else f'.str.replace("{decimal}", ".")'
    plain = "low" if decimal == "." else f'sub("{decimal}", ".", low, fixed = TRUE)'
    yield f'  low = records[{name}].str.extract(r"{number}")[0]'
    yield f"  low = pandas.to_numeric(low{pointed})"
    yield '  records = records.loc[low.sort_values(na_position="first").index]'
    yield ""
    in_r = number.replace("\\", "\\\\")
    yield f'  low <- sub("{in_r}.*", "\\\\1", records[[{name}]])'
    yield f"  low <- suppressWarnings(as.numeric({plain}))"
    yield "  records <- records[order(low, na.last = FALSE), ]"


def nothing_verified(measured: Sequence[bool]) -> bool:
    """Return whether an audit verifies nothing: it cannot measure the first constraint.

    Parameters
    ----------
    measured: whether it can measure each constraint, those of scenarios last.
    """
    return bool(measured) and not measured[0]


def _judged(public: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of all constraints, those of scenarios last."""
    scenarios = public.get("scenarios", {}).values()
    return [*public["constraints"], *(each for own in scenarios for each in own["constraints"])]


def _verifying(public: Mapping[str, Any]) -> str:
    """Return what the audit can tell a recipient, before its command."""
    judged, version = _judged(public), public["environment"]["anonymizer"]
    hidden = dict.fromkeys(_counted(each) for each in judged if not each["verifiable_from_release"])
    how = f"keep all files in one folder and run, with anonymizer {version} or later:"
    if public["config"].get("sign"):
        key = "--key and the file of the public key, which the publisher gives you in another way"
        how = f"and that each file is as it was signed, keep all of them in one folder and run, with {key}:"
    done = "report.public.json says what was done."
    if nothing_verified([each["verifiable_from_release"] for each in judged]):
        return (
            f"{done} Only the author can measure {listed([*hidden])}, as these records do not show enough. "
            "The audit compares the rest of the report with them; if that agrees, it says NOT MEASURED, "
            f"which is no fault. For that, {how}"
        )
    but = f", but for {listed([*hidden])}, which only the author can measure" if hidden else ""
    return f"{done} To verify that it is true of these records{but}, {how}"


def _shown(text: str) -> str:
    """Return a text, in quotes if it has characters that are not printed or is one character."""
    return text if text.isprintable() and len(text) > 1 else json.dumps(text, ensure_ascii=False)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _paragraph(text: str) -> list[str]:
    return wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _item(text: str) -> list[str]:
    return wrap(
        text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
