"""Class layouts of the Hive versions, as data."""
