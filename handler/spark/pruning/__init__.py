"""``prune`` for a Spark session, and the schema in which Spark sees a Hudi table."""
