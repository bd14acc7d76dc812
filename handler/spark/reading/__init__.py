"""The kept file slices as rows: a DataFrame of scans and Python workers in the table's schema."""
