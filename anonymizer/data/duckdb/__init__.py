"""The DuckDB engine, inside this process: the only place that imports DuckDB."""
