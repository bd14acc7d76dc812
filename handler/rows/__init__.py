"""The rows of file slices as Arrow batches in the table's schema, as Hudi's reader returns them; no Spark is needed."""
