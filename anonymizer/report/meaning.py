"""What a published value means, in words: the forms of the grammar with the ends of this very label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial

from anonymizer.model.dates import iso_moment
from anonymizer.model.labels import (
    CLOSED,
    DATES,
    HALF_OPEN,
    MASKED,
    OPEN,
    OTHERS,
    PERIODS,
    RANGES,
    RARE,
    SET,
    SIGNED,
    SPAN,
    WHOLE,
    Form,
    RangeForm,
    exact,
    interval_of,
    number_text,
)


def number_in(text: str, decimal: str) -> Fraction | None:
    """Return the number of a published text; None for another text.

    Parameters
    ----------
    decimal: sign before the fraction.
    """
    return exact(text.replace(decimal, "."))


def _number_or_moment(text: str, decimal: str) -> Fraction | None:
    moment = iso_moment(text)
    return number_in(text, decimal) if moment is None else Fraction(moment.number)


def _is_range(form: RangeForm, text: str, decimal: str) -> bool:
    return form.read(text, partial(number_in, decimal=decimal), plain=True) is not None


def _is_period(name: str, text: str, decimal: str) -> bool:  # noqa: ARG001 - as for numbers
    return PERIODS[name].matches(text)


_FITS: Mapping[Form, Callable[[str, str], bool]] = {
    **{form: partial(_is_range, form) for form in (WHOLE, SIGNED, HALF_OPEN, OPEN)},
    CLOSED: lambda text, decimal: CLOSED.read(text, partial(_number_or_moment, decimal=decimal)) is not None,
    SPAN: lambda text, _: any(SPAN.ends(text)),
    DATES: lambda text, _: any(DATES.ends(text)),
    SET: lambda text, _: SET.read(text) is not None,
    RARE: lambda text, _: text.endswith(RARE.write("")),
    OTHERS: lambda text, _: OTHERS.read(text) is not None,
    MASKED["right"]: lambda text, _: MASKED["right"].shown(text) != text,
    MASKED["left"]: lambda text, _: MASKED["left"].shown(text) != text,
    **{form: partial(_is_period, name) for name, form in PERIODS.items()},
}
"""Whether a text can be a label of a form, given the decimal sign."""


def has_form(text: str, form: Form, decimal: str) -> bool:
    """Return whether a text can be a label of a form; one that this list lacks has no labels of its own.

    >>> has_form("20-24", WHOLE, "."), has_form("Jean-Luc", WHOLE, "."), has_form("01**", SET, ".")
    (True, False, False)
    """
    return form in _FITS and _FITS[form](text, decimal)


def is_number_range(text: str, decimal: str) -> bool:
    """Return whether a text names a range of numbers.

    >>> is_number_range("20-24", "."), is_number_range("20", "."), is_number_range("old", ".")
    (True, False, False)
    """
    return any(has_form(text, form, decimal) for form in RANGES)


def meaning_of(text: str, forms: Iterable[Form], decimal: str) -> str | None:
    """Return what a label means; None for a label of none of the forms.

    Parameters
    ----------
    forms: that labels of the column can have.

    >>> meaning_of("[20, 22.5)", RANGES, "."), meaning_of("20-24", RANGES, ".")
    ('numbers from 20 to below 22.5', 'whole numbers from 20 to 24, both included')
    >>> meaning_of("65+", RANGES, "."), meaning_of("<=20", RANGES, "."), meaning_of("[1, 3]", RANGES, ".")
    ('65 and all above', '20 and all below', 'values from 1 to 3, both included')
    >>> meaning_of("{a, b}", [SET], "."), meaning_of("2020s", [PERIODS["decade"]], ".")
    ('one of a and b, unknown which', 'the ten years from 2020')
    >>> meaning_of("01**", [MASKED["right"]], ".")
    'a text that begins with 01; each * hides one character'
    """
    found = next((form for form in forms if has_form(text, form, decimal)), None)
    if found is None:
        return None
    return _WORDS[found](text) if found in _WORDS else found.meaning


def _from_to(form: RangeForm, what: str, text: str) -> str:
    low, high, closed = next(form.ends(text))
    return f"{what} from {low} to {high}, both included" if closed else f"{what} from {low} to below {high}"


def _open_ended(text: str) -> str:
    low, high, closed = next(OPEN.ends(text))
    if low:
        return f"{low} and all above"
    return f"{high} and all below" if closed else f"numbers below {high}"


def _between(text: str) -> str:
    low, high, _ = next(SPAN.ends(text))
    return f"{low}, {high} and all values between them in order"


def _one_of(text: str) -> str:
    *others, last = SET.read(text) or [""]
    return f"one of {', '.join(others)} and {last}, unknown which" if others else last


def _masked(side: str, where: str, text: str) -> str:
    shown = MASKED[side].shown(text)
    return f"{f'a text that {where} with {shown}' if shown else 'any text'}; each * hides one character"


_WORDS: Mapping[Form, Callable[[str], str]] = {
    WHOLE: partial(_from_to, WHOLE, "whole numbers"),
    SIGNED: partial(_from_to, SIGNED, "whole numbers"),
    HALF_OPEN: partial(_from_to, HALF_OPEN, "numbers"),
    CLOSED: partial(_from_to, CLOSED, "values"),
    DATES: partial(_from_to, DATES, "a date"),
    OPEN: _open_ended,
    SPAN: _between,
    SET: _one_of,
    RARE: lambda text: f"a rare value that begins with {text.removesuffix(RARE.write(''))}",
    MASKED["right"]: partial(_masked, "right", "begins"),
    MASKED["left"]: partial(_masked, "left", "ends"),
    PERIODS["decade"]: lambda text: f"the ten years from {text[:4]}",
}
"""What a label of a form means; of other forms, all labels mean the same."""


def middle_of(text: str, decimal: str) -> str | None:
    """Return the middle of a range of numbers; None for another text, or a range that is open.

    >>> middle_of("20-24", "."), middle_of("[20, 22,5)", ","), middle_of("65+", "."), middle_of("a", ".")
    ('22', '21,25', None, None)
    """
    found = interval_of(text, decimal) if is_number_range(text, decimal) else None
    if found is None or found.low is None or found.high is None:
        return None
    middle = number_text((found.low + found.high) / 2)
    return None if middle is None else middle.replace(".", decimal)
