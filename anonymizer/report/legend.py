"""README.txt: the legend of a release for its recipient, a function of the public report alone."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from textwrap import wrap
from typing import Any

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

_NUMBERS = (
    ("20-24", "whole numbers from 20 to 24, both included"),
    ("-5 to -1", "the same where a column has numbers below zero"),
    ("[20, 22.5)", "numbers from 20 up to, but without, 22.5; with ] the end is included"),
    ("<20, 65+", "numbers below 20; 65 and all above"),
)
_GROUPS = (
    ("a..f", "a, f and all values between them in alphabetical order"),
    ("{a, b}", "one of a and b, unknown which"),
)
_BY_SOURCE: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "intervals": ("numbers in intervals", _NUMBERS),
    "mask": ("parts of texts", (("01**", "a text that begins with 01; each * hides one character"),)),
    "date": (
        "periods of dates",
        (("2024-05, 2024-Q2, 2024, 2020s", "a month, a quarter, a year, a decade"),),
    ),
    "order": ("groups of consecutive values", (*_NUMBERS, *_GROUPS)),
    "auto": ("groups of values", (*_NUMBERS, *_GROUPS)),
    "frequency": (
        "frequent values, the others merged",
        (("other (12 values)", "one of the 12 least frequent values of the original, unknown which"),),
    ),
    "ready": ("groups of a hierarchy", ()),
    "tree": ("groups of a hierarchy", ()),
    "file": ("groups of a hierarchy", ()),
}
"""What a column with a kind of hierarchy contains, and its forms of values with their meanings."""

_BY_LABELS = {
    "interval": ("ranges of values", (("[20, 24]", "values from 20 to 24, both included"), _GROUPS[1])),
    "set": ("sets of values", (_GROUPS[1],)),
}
"""The same by ``labels`` of Mondrian."""

_HIDDEN = ("*", "any value: hidden")
_MISSING = "<missing>"


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
        "\n".join(_reading(public)),
        "\n".join(_paragraph(_verifying(public))),
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
        name = each["model"] + (f" ({_shown(each['attribute'])})" if each["attribute"] else "")
        given = ", ".join(f"{key} {_plain(value)}" for key, value in each["parameters"].items())
        yield from _item(f"{name}: {given}" if given else name)


def _columns(public: Mapping[str, Any]) -> Iterator[str]:
    for name, settings in public["config"]["attributes"].items():
        if settings["role"] in LEFT_OUT or settings.get("release") is False:
            continue
        yield from _item(f"{_shown(name)}: {_content(public, name)[0]}")


def _content(public: Mapping[str, Any], name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what a column contains, and the forms of its generalized values."""
    settings, algorithm = public["config"]["attributes"][name], public["config"]["algorithm"]
    levels = public["recoding"].get("levels")
    level = None if levels is None else levels.get(name)
    if settings["role"] != "quasi-identifier":
        return _UNCHANGED.get(settings["role"], "unchanged"), ()
    if level == 0:
        return _ungeneralized(public, name), ()
    if public["recoding"].get("aggregate") is not None:
        return f"the {public['recoding']['aggregate']} of similar records", ()
    if algorithm["name"] == "mondrian" and algorithm.get("labels") in _BY_LABELS:
        return _BY_LABELS[algorithm["labels"]]
    source = next((key for key in settings.get("hierarchy") or () if key in _BY_SOURCE), None)
    if source is None:
        own = "groups of a hierarchy" if settings.get("hierarchy") else "hidden (*)"
        return (own if level is not None else "unchanged, or * where that would disclose too much"), ()
    what, forms = _BY_SOURCE[source]
    return (f"{what}, level {level}" if level is not None else f"{what}, some finer than others"), forms


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
    forms = dict.fromkeys(form for name in names for form in _content(public, name)[1])
    for form, meaning in (*forms, _HIDDEN, _missing(public)):
        yield from _item(f"{form}: {meaning}")


def _missing(public: Mapping[str, Any]) -> tuple[str, str]:
    """Return how missing values look: in unchanged columns as in the original."""
    texts = [_shown(text) for text in public["config"]["input"]["missing"]]
    own = f"; in unchanged columns {' or '.join(texts)}" if texts else ""
    return _MISSING, f"the value was missing in the original{own}"


def _ranges(public: Mapping[str, Any]) -> str | None:
    """Return a column with ranges of numbers, None without one."""
    columns = public["config"]["attributes"]
    found = (name for name, own in columns.items() if own.get("type") in ("integer", "number"))
    return next((name for name in found if _NUMBERS[0] in _content(public, name)[1]), None)


def _reading(public: Mapping[str, Any]) -> Iterator[str]:
    if not _is_text(public):
        yield from _paragraph("Generalized columns are texts; the others have the types of the original.")
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
        yield from _sorting(column, public["config"]["input"]["decimal"])


def _sorting(column: str, decimal: str) -> Iterator[str]:
    """Yield how to sort ranges of numbers: by their first number."""
    name = json.dumps(column, ensure_ascii=False)
    pointed = "" if decimal == "." else f'.str.replace("{decimal}", ".")'
    plain = "low" if decimal == "." else f'sub("{decimal}", ".", low, fixed = TRUE)'
    yield "To sort ranges by their lower end; * and <20 have none and come first:"
    yield f'  low = records[{name}].str.extract(r"^\\[?(-?[0-9]+([{decimal}][0-9]+)?)")[0]'
    yield f"  low = pandas.to_numeric(low{pointed})"
    yield '  records = records.loc[low.sort_values(na_position="first").index]'
    yield ""
    yield f'  low <- sub("^\\\\[?(-?[0-9]+([{decimal}][0-9]+)?).*", "\\\\1", records[[{name}]])'
    yield f"  low <- suppressWarnings(as.numeric({plain}))"
    yield "  records <- records[order(low, na.last = FALSE), ]"


def _verifying(public: Mapping[str, Any]) -> str:
    version = public["environment"]["anonymizer"]
    return (
        "report.public.json says what was done. To verify that it is true of these records, keep all files "
        f"in one folder and run, with anonymizer {version} or later: anonymizer audit {_name(public)}"
    )


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
