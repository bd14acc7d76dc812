"""Hudi tables that real Hudi writes for the conformance suite: `make tables`."""
