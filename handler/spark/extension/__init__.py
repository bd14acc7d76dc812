"""Sargo's extension of Spark, from Python: existing queries over Hudi tables read only the file slices they need.

    in_process     a sidecar in the driver's Python, which the extension asks
    installing     the jar on the session's class loader, and its rules in the session

The extension itself is Java (``handler/java/spark``).
"""
