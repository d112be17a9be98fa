"""``sign:`` of a config: the key that a release is signed with, which no report contains."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from anonymizer.config.section import Section
from anonymizer.errors import shown
from anonymizer.plugins import usable_path

FILE, VARIABLE = "file:", "env:"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _key_place(given: str) -> str:
    """Refuse what is not the place of a key; a key itself is not shown, as it would be known then."""
    if given.startswith(FILE) and len(given) > len(FILE):
        return FILE + usable_path(given.removeprefix(FILE))
    if given.startswith(VARIABLE) and _NAME.fullmatch(given.removeprefix(VARIABLE)):
        return given
    what = "a key" if "PRIVATE KEY" in given else shown(given)
    raise ValueError(
        f"{what}; accepted: file:PATH for a file, relative to the config, or env:NAME for an environment "
        "variable"
    )


class SignSettings(Section):
    """The key that a release is signed with."""

    key: Annotated[str, AfterValidator(_key_place)] = Field(
        description="where the private key is, in PEM for Ed25519: file:PATH, relative to the config, or "
        "env:NAME, an environment variable that holds it",
        json_schema_extra={"pattern": f"^({FILE}.+|{VARIABLE}{_NAME.pattern})$"},
    )

    @property
    def path(self) -> str | None:
        """The path of the key's file, None for an environment variable."""
        return self.key.removeprefix(FILE) if self.key.startswith(FILE) else None
