"""Benchmarks. No module uses the user's cache of snapshots, or it would time that."""

import os

os.environ["SARGO_CACHE"] = "off"
