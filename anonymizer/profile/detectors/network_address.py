"""Addresses of machines and accounts on a network."""

from __future__ import annotations

import re
from ipaddress import ip_address

from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import MOSTLY, Detector, Finding, share
from anonymizer.profile.facts import ColumnFacts

_MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.IGNORECASE)
_URL = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)


class NetworkAddresses(Detector):
    """IP and MAC addresses, and web addresses of people."""

    name = "network addresses"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Count the values that are such addresses."""
        if column.type is not ValueType.TEXT:
            return None
        found = share(column, _is_address)
        if found.value < MOSTLY:
            return None
        return Finding(self.name, str(found), certain=True)


def _is_address(text: str) -> bool:
    if _MAC.fullmatch(text) or _URL.fullmatch(text):
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
