"""Aggregates of a pruned table: which slices Parquet footers answer exactly, and which have to be scanned.

    aggregate     count(*), count(c), min(c), max(c) and sum(c), and how values of parts are put together
    file_values   what the footer of one base file proves exactly of a column
    answers       what the footers of some slices answer, and why not of others
    split         the kept slices of a plan, those that are answered and those to scan

No Spark is needed here, and no row is read. ``handler.spark.reading.aggregate`` scans the rest.
"""
