"""What every caller of the package hudi-rs (PyPI: ``hudi``) needs; imports nothing of this project."""
