"""The index kind ``column_stats``: Hudi's bounds, null counts and row counts of each file, united by slice."""
