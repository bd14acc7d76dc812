"""JSON, Avro and Parquet of others, read with a bound on every count and size before memory is allocated.

Which reader has which bound stands in docs/internals/bounds.md.
"""
