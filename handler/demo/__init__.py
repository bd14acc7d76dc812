"""``sargo demo``: real Hive filters on a real Hudi table, and a proof that no matching row is lost."""
