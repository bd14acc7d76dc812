"""Sargo from PySpark (``pip install 'sargo[spark]'``)."""
