"""Conditions of PySpark as Spark's analyser resolves them, and their tree as HudiExpression."""
