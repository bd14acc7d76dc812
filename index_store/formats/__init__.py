"""Decoders of the formats on disk: HFile, Avro records, log files, Bloom filters, Parquet footers.

They know a format, never a table, and import ``storage`` only.
"""
