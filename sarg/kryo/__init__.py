"""Kryo bytes to an object graph, from layout tables alone. No class named in the bytes is ever imported."""
