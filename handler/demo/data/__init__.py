"""A small real Hudi table and real Hive filters for the demo."""
