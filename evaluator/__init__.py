"""Decide, from statistics alone, which values a filter may take on the rows of a file slice."""
