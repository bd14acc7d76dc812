"""The version of Sargo: the one place that the package, the command line, the sidecar and `sargo doctor` read it from.

``pyproject.toml`` takes it from here. ``handler/java/pom.xml`` repeats it, and a test compares the two.
"""

__all__ = ["VERSION"]

VERSION = "0.1.0"
