"""Range functions."""
