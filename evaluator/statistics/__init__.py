"""What is known of file slices: bounds, null counts and row counts as arrays, and which of them are trusted.

Imports ``language`` only.
"""
