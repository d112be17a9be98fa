"""A made-up table of patients with all 18 identifiers of Safe Harbor."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pandas as pd

GIVEN = ["James", "Mary", "Robert", "Patricia", "John", "Jennifer", "Michael", "Linda", "David", "Elizabeth"]
FAMILY = ["Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Martinez", "Wilson"]
CITIES = [
    f"{first}{last}" for first in ("Green", "Spring", "River", "Oak") for last in ("ville", "field", "ton")
]
STATES = ["CA", "NY", "TX", "FL", "OH", "IL", "PA", "GA", "NC", "MI"]
ILLNESSES = ["influenza", "asthma", "diabetes", "hypertension", "pneumonia", "fracture"]
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"

SECTIONS = {
    "patient_name": "A",
    "street_address": "B",
    "city": "B",
    "county": "B",
    "zip": "B",
    "birth_date": "C",
    "admission_date": "C",
    "discharge_date": "C",
    "death_date": "C",
    "age": "C",
    "phone": "D",
    "fax": "E",
    "email": "F",
    "ssn": "G",
    "mrn": "H",
    "beneficiary_number": "I",
    "account_number": "J",
    "license_number": "K",
    "vehicle_plate": "L",
    "device_serial": "M",
    "website": "N",
    "ip_address": "O",
    "fingerprint_hash": "P",
    "photo_file": "Q",
    "study_code": "R",
}
"""The letter of 45 CFR 164.514(b)(2)(i) of each column that identifies."""


def patients(number: int = 2_000, seed: int = 4) -> pd.DataFrame:
    """Return the table; the last four columns identify nobody."""
    random = Random(seed)
    rows = [_patient(random, place) for place in range(number)]
    return pd.DataFrame(rows, columns=[*SECTIONS, "sex", "state", "diagnosis", "cost"], dtype=str)


def _patient(random: Random, place: int) -> list[str]:
    given, family = random.choice(GIVEN), random.choice(FAMILY)
    age = random.choices([random.randint(18, 89), random.randint(90, 97)], [97, 3])[0]
    admitted = date(2023, 1, 1) + timedelta(random.randrange(700))
    died = admitted + timedelta(random.randrange(400)) if random.random() < 0.3 else None

    def digits(count: int) -> str:
        return "".join(random.choice("0123456789") for _ in range(count))

    return [
        f"{given} {family}",
        f"{random.randint(1, 999)} {random.choice(FAMILY)} Street",
        random.choice(CITIES),
        f"{random.choice(FAMILY)} County",
        random.choice(("036", "021", "482", "606", "100")) + digits(2),
        str(date(2024 - age, 1, 1) + timedelta(random.randrange(360))),
        str(admitted),
        str(admitted + timedelta(random.randrange(1, 30))),
        str(died or ""),
        str(age),
        f"({random.randint(201, 989)}) {random.randint(200, 999)}-{digits(4)}",
        f"{random.randint(201, 989)}-{random.randint(200, 999)}-{digits(4)}",
        f"{given.lower()}.{family.lower()}{place}@example.org",
        f"{random.randint(100, 899)}-{digits(2)}-{digits(4)}",
        f"M{place:05d}{digits(3)}",
        f"H{digits(4)}{place:05d}",
        f"{digits(6)}{place:05d}",
        f"D{place:04d}{digits(4)}",
        f"{random.choice(LETTERS)}{random.choice(LETTERS)}{random.choice(LETTERS)}-{place:04d}",
        f"SN{digits(5)}{place:05d}",
        f"https://example.org/people/{family.lower()}{place}",
        f"10.{random.randint(0, 255)}.{place // 250}.{place % 250}",
        f"{random.getrandbits(128):032x}",
        f"IMG_{place:05d}.jpg",
        f"X{digits(3)}{place:05d}",
        random.choice("FM"),
        random.choice(STATES),
        random.choice(ILLNESSES),
        str(random.randint(100, 9_999)),
    ]
