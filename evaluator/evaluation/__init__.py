"""The outcome of every file slice, from a bound filter and statistics.

Imports ``binding`` and what is below it.
"""
