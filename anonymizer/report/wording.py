"""The wording of the report page: numbers, constraints, attacks, and the elements of its sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from anonymizer.report.canvas import LONGEST, Frame, Palette, inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes
    ----------
    caption: what it holds.
    head: names of its columns; the first names the rows.
    rows: as wide as the head.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A chart with what it says in words and in numbers.

    Attributes
    ----------
    title: above it.
    svg: the chart itself.
    finding: the sentence below it.
    data: the numbers that are drawn.
    key: which colours and shapes it uses, as the template names them.
    """

    title: str
    svg: str
    finding: str
    data: Grid
    key: tuple[str, ...] = ()


WIDE = 720.0
"""Width of a chart that stands alone, in pixels."""

NARROW = 340.0
"""Width of a chart among others."""


def left_of(labels: Sequence[str], longest: int = LONGEST) -> float:
    """Return the pixels that labels need beside an axis."""
    return 20.0 + 7.0 * max([min(len(label), longest) for label in labels], default=0)


def drawn(name: str, label: str, frame: Frame, draw: Callable[[Axes, Palette], object]) -> str:
    """Return a chart as an ``svg`` element; ``name`` is unlike that of any other chart of the page."""
    return inline_svg(draw, frame, name, label)


def floored(bound: float) -> str:
    """Return a lower bound with two digits, never above it.

    >>> floored(0.1899), floored(0.0446), floored(0.0)
    ('0.18', '0.044', '0')
    """
    exact = Decimal(bound)
    return (
        f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_FLOOR)):.2g}" if bound else "0"
    )


def percent(share: float) -> str:
    """Return a share for people, with a space that no line ends at.

    >>> percent(0), percent(0.0000339), percent(0.0213), percent(0.3579), percent(1)
    ('0\\xa0%', '0.0034\\xa0%', '2.13\\xa0%', '35.8\\xa0%', '100\\xa0%')
    >>> percent(1e-9), percent(0.9999)
    ('under\\xa00.001\\xa0%', '99.99\\xa0%')
    """
    hundredth = 100 * share
    if 0 < hundredth < 0.001:
        return "under\xa00.001\xa0%"
    digits = 3 if hundredth < 99.95 or share == 1 else 4
    text = f"{hundredth:.{digits}g}" if hundredth >= 1 else f"{hundredth:.2g}"
    return f"{text}\xa0%"


def number(value: Any, digits: int = 4) -> str:
    """Return a measure for people; what has no value is a dash.

    >>> number(None), number(5), number(0.36466), number([5, 0.25]), number("Infinity"), number(18658518)
    ('–', '5', '0.3647', '5 and 0.25', 'infinite', '18,658,518')
    """
    if value is None:
        return "–"
    if isinstance(value, list):
        return " and ".join(number(each, digits) for each in value)
    if isinstance(value, str):
        return "infinite" if value == "Infinity" else value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def masked_count(count: int, smallest: int) -> str:
    """Return a count of people or groups, without telling one that is too small to be told.

    >>> masked_count(0, 5), masked_count(4, 5), masked_count(1200, 5)
    ('0', 'fewer than 5', '1,200')
    """
    return f"fewer than {smallest}" if 0 < count < smallest else f"{count:,}"


def plural(count: int, one: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "group"), plural(2, "group")
    ('1 group', '2 groups')
    """
    return f"{count:,} {one}" + ("" if count == 1 else "s")


def listed(names: list[str]) -> str:
    """Join names.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + names[-1:])


def asked(constraint: Mapping[str, Any]) -> str:
    """Return the parameters of a promise."""
    return ", ".join(f"{key} = {number(value)}" for key, value in constraint["parameters"].items())


def promise(constraint: Mapping[str, Any]) -> str:
    """Return the name of a promise."""
    own = constraint["attribute"]
    return f"{constraint['model']} of {own}" if own else str(constraint["model"])


def attack(entry: Mapping[str, Any]) -> str:
    """Return a short name of a finding: the attack and what it aims at."""
    known = entry["knowledge"]
    who = known.get("sensitive") or known.get("target")
    aims = [str(each) for each in (who, known.get("linkage"), known.get("distance")) if each]
    return f"{entry['attack']}: {', '.join(aims)}" if aims else str(entry["attack"])


def interval(entry: Mapping[str, Any]) -> str:
    """Return the 95 % interval of an estimate, or that it was counted."""
    if entry["low"] == entry["high"]:
        return "counted"
    return f"{percent(entry['low'])} to {percent(entry['high'])}"


def strongest(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the attack that gains most over a guess; None without attacks."""
    return max(entries, key=lambda each: each["success"] - each["baseline"], default=None)
