"""The scans of TPC-H and TPC-DS on real Hudi tables: what Sargo keeps, what Hudi keeps, and what holds a match."""
