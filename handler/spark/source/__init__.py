"""``spark.read.format("sargo")``: the Python data source and what keeps its scans apart."""
