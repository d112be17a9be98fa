"""``anonymizer schema``: the JSON Schema of the config, for editors."""

from __future__ import annotations

from anonymizer.cli.output import Json, Quiet, write_json


def schema(quiet: Quiet = False, json: Json = False) -> None:  # noqa: ARG001 - the answer is JSON, and only that
    """Print the JSON Schema of the config, with the parameters of everything that is installed.

    Editors complete and check a config by it: save it as schema.json and start the config with the line
    "# yaml-language-server: $schema=schema.json".
    """
    from anonymizer.config.schema import config_schema  # noqa: PLC0415 - --help needs none of it

    write_json(config_schema())
