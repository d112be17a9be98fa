"""The JSON Schema of the config, composed from what is registered; editors complete files by it."""

from __future__ import annotations

from typing import Any

from anonymizer.config.model import Config


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a config, every plug-in's parameters included."""
    schema = Config.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "anonymizer config",
    }
