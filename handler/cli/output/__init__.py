"""Where commands write: consoles, and streams whose encoding lacks characters."""
