"""Grids of questions to real Hive 3.1.3 and 4.0.1, whose answers are recorded: ``python -m tests.hive.grids``."""
