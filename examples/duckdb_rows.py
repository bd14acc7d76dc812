"""Queries the rows of a Hudi table that satisfy a condition with DuckDB.

pip install 'sargo[duckdb]'
python duckdb_rows.py /data/trips "fare > 50" "SELECT city, count(*) FROM rows GROUP BY city"
"""

from __future__ import annotations

import sys

import duckdb

import sargo


def main(path: str, where: str, query: str) -> None:
    """Print the answer of the query, in which ``rows`` are the rows that satisfy the condition."""
    con = duckdb.connect()
    sargo.scan(path, where).to_duckdb(con, "rows")
    con.sql(query).show()


if __name__ == "__main__":
    main(*sys.argv[1:])
