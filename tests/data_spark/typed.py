"""Files with columns of every type that is one value."""

from __future__ import annotations

from pathlib import Path

import duckdb

ROWS = r"""
 (1::INT, 1.5::DOUBLE, 0.1::FLOAT, DATE '2020-01-02', TIMESTAMP '2020-01-01 12:00:00.5',
  TIMESTAMPTZ '2020-01-01 12:00:00+01', true, 1.50::DECIMAL(10,5), 'a', '\xAA'::BLOB, 255::UTINYINT,
  18446744073709551615::UBIGINT, (-5)::BIGINT, ''),
 (-1, 1e20, 1e-5, DATE '0999-12-31', TIMESTAMP '2020-01-01', TIMESTAMPTZ '2020-07-01 00:00:00+00', false,
  0.00001, 'é,"x', 'b'::BLOB, 0, 0, 5, NULL),
 (NULL, 3.0, 3.0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x'),
 (7, -0.0, 16777216.0, DATE '2020-02-29',
  TIMESTAMP '1969-12-31 23:59:59.000001', NULL, true, -12.3, '01', '', 7,
  1, 9223372036854775807, '*'),
 (7, 'nan'::DOUBLE, 'inf'::FLOAT, DATE '2020-02-29',
  TIMESTAMP '1969-12-31 23:59:59.000001', NULL, true, -12.3,
  '𝔘', '', 7, 1, -9223372036854775808, 'x')
"""
NAMES = "a, b, c, d, e, f, g, h, i, j, k, l, m, n"


def typed_parquet(path: Path) -> Path:
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {ROWS}) t({NAMES})) TO '{path}' (FORMAT parquet)")
    return path
