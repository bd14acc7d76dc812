"""Reports on a table that need no filter: its state (``sargo inspect``) and its files (``sargo files``)."""
