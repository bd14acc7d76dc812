"""Rows and conditions in the forms of pyarrow, Polars, DuckDB and pandas."""
