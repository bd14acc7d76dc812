"""Decoders of the bytes on disk: they know a format, never a table."""
