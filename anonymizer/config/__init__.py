"""The config: from YAML, TOML, JSON or a mapping to one checked value."""
