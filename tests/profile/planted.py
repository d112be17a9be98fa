"""A file in which every kind of identifier is planted beside ordinary columns."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from uuid import UUID

FIRST = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gül", "Hassan", "Ines", "Jörg", "Mary", "John", "Olga")
LAST = ("Smith", "Müller", "Rossi", "Nguyen", "Kowalski", "Okafor", "Petrov", "Dupont", "García", "Abe")
WORDS = ("patient", "reports", "mild", "pain", "since", "the", "last", "visit", "and", "was", "advised", "to")

Maker = Callable[[Random, int], object]


def iban(random: Random, _number: int) -> str:
    """Return a German account number with valid check digits (D is 13, E is 14)."""
    account = "".join(str(random.randrange(10)) for _ in range(18))
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def day(random: Random, form: str) -> str:
    """Return a date of birth in some form."""
    return form.format(d=random.randrange(1, 29), m=random.randrange(1, 13), y=random.randrange(1930, 2006))


PLANTED: dict[str, tuple[Maker, str]] = {
    "name": (lambda r, n: f"{r.choice(FIRST)} {r.choice(LAST)}", "names of people"),
    "surname": (lambda r, n: r.choice(LAST) + r.choice(("", "-Ott", "-Lang", "ic")), "names of people"),
    "mail": (lambda r, n: f"{r.choice(FIRST).lower()}{n}@example.org", "e-mail addresses"),
    "tel": (lambda r, n: f"+49 {r.randrange(100, 999)} {r.randrange(10**6, 10**7)}", "telephone numbers"),
    "mobile": (lambda r, n: f"0{r.randrange(10**9, 10**10)}", "telephone numbers"),
    "fax": (lambda r, n: f"({r.randrange(200, 999)}) 555-{r.randrange(10**3, 10**4)}", "telephone numbers"),
    "patient_id": (lambda r, n: 10_000 + n, "identification numbers"),
    "guid": (lambda r, n: UUID(int=r.getrandbits(128)), "identification numbers"),
    "ssn": (lambda r, n: f"{r.randrange(100, 999)}-{r.randrange(10, 99)}-{n:04d}", "identification numbers"),
    "iban": (iban, "bank account numbers"),
    "lat": (lambda r, n: f"{47 + r.random() * 5:.6f}", "geographic coordinates"),
    "lon": (lambda r, n: f"{8 + r.random() * 2:.6f}", "geographic coordinates"),
    "place": (lambda r, n: f"{47 + r.random() * 5:.5f}, {6 + r.random():.5f}", "geographic coordinates"),
    "dob": (lambda r, n: day(r, "{y}-{m:02d}-{d:02d}"), "dates of birth"),
    "geb": (lambda r, n: day(r, "{d:02d}.{m:02d}.{y}"), "dates of birth"),
    "note": (lambda r, n: " ".join(r.choices(WORDS, k=r.randrange(6, 14))), "free text"),
    "street": (
        lambda r, n: f"{r.choice(('Main St', 'Hauptstr.'))} {r.randrange(1, 200)}",
        "postal addresses",
    ),
    "ip": (lambda r, n: f"10.{r.randrange(256)}.{r.randrange(256)}.{n % 256}", "network addresses"),
}
"""How a value is made, by the column's name, with what it should be flagged as."""

ORDINARY: dict[str, Maker] = {
    "age": lambda r, n: r.randrange(18, 90),
    "sex": lambda r, n: r.choice("FM"),
    "zip": lambda r, n: f"0{r.randrange(1000, 1040)}",
    "job": lambda r, n: r.choice(("Nurse", "Cook", "Clerk", "Driver", "Teacher")),
    "diagnosis": lambda r, n: r.choice(("flu", "asthma", "stroke", "cancer", "HIV infection", "gout")),
}


def values(maker: Maker, records: int = 600, seed: int = 5) -> list[object]:
    """Return the values of a column."""
    random = Random(seed)
    return [maker(random, number) for number in range(records)]


def write_planted(path: Path, names: Sequence[str] | None = None, records: int = 600) -> Path:
    """Write all columns, under other names where they are given."""
    makers = {**{name: maker for name, (maker, _) in PLANTED.items()}, **ORDINARY}
    made = [values(maker, records, seed) for seed, maker in enumerate(makers.values())]
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([names or list(makers), *zip(*made, strict=True)])
    return path
