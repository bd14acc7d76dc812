"""TPC-H: its scans, parameters and tables. ``tests/tpc`` measures them."""
