"""What the JVMs of tests are started with: in their few minutes the second compiler costs more than it saves."""

from __future__ import annotations

__all__ = ["SHORT_LIVED"]

SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
