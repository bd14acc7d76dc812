"""The command line: commands, and the views that print their results."""
