"""Every byte of a table's metadata is damaged, one at a time: no file may get lost by it (contracts C4 and C10).

``python -m tests.torture`` runs it. ``tests/torture/test_torture.py`` runs a seeded sample.
"""
