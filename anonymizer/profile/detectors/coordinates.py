"""Geographic coordinates."""

from __future__ import annotations

import re

import numpy as np

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

COORDINATE_TERMS = (
    *("lat", "latitude", "lon", "lng", "long", "longitude", "coord", "coordinate", "coordinates"),
    *("gps", "geo", "geolocation", "location", "northing", "easting", "breitengrad", "laengengrad"),
)
_NUMBER = r"[+-]?\d{1,3}\.\d{2,}"
_PAIR = re.compile(rf"\s*(POINT)?\s*[(\[]?\s*{_NUMBER}\s*[,; ]\s*{_NUMBER}\s*[)\]]?\s*", re.IGNORECASE)
_DEGREES = re.compile(r"""\s*\d{1,3}\s*°.*[NSEWO]\s*""", re.IGNORECASE)
_PRECISE = re.compile(r"[+-]?\d{1,3}\.\d{4,}")
_DECIMAL = re.compile(r"[+-]?\d{1,3}\.\d+")
COORDINATES_DISTINCT = 0.5
_SPREAD = 5.0
"""Degrees that the middle value is from 0, at least, for numbers that no name calls coordinates."""


class Coordinates(Detector):
    """Degrees of latitude or longitude, in a column each or in pairs: they lead to a door."""

    name = "geographic coordinates"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count pairs and degrees; single numbers by their name, or where they have four decimals or more."""
        pairs = share(column, lambda text: _PAIR.fullmatch(text) or _DEGREES.fullmatch(text))
        if pairs.value >= MOSTLY:
            return Finding(self.name, str(pairs), certain=True)
        if column.type is not ValueType.NUMBER or not self._in_range(column):
            return None
        named = names_any(column.name, COORDINATE_TERMS)
        found = share(column, (_DECIMAL if named else _PRECISE).fullmatch)
        far = abs(float(np.median(column.numbers))) >= _SPREAD
        if found.value < MOSTLY or not (named or (far and column.distinctness >= COORDINATES_DISTINCT)):
            return None
        return Finding(self.name, str(found), certain=named, general=True)

    @staticmethod
    def _in_range(column: ColumnFacts) -> bool:
        return bool(len(column.numbers)) and bool(np.abs(column.numbers).max() <= 180)
