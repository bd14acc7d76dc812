"""All fuzzers by name. Each is made when it is run: they import much."""

from __future__ import annotations

from tests.fuzz.fuzzer import Fuzzer

__all__ = ["NAMES", "named"]

NAMES = ("kryo", "sql", "catalyst", "table", "frames", "index")


def named(name: str) -> Fuzzer:
    """The fuzzer of this name."""
    match name:
        case "kryo":
            from tests.fuzz.kryo import KryoFuzzer

            return KryoFuzzer()
        case "sql":
            from tests.fuzz.sql import SqlFuzzer

            return SqlFuzzer()
        case "catalyst":
            from tests.fuzz.catalyst import CatalystFuzzer

            return CatalystFuzzer()
        case "table":
            from tests.fuzz.table import TableFuzzer

            return TableFuzzer()
        case "frames":
            from tests.fuzz.frames import FramesFuzzer

            return FramesFuzzer()
        case "index":
            from tests.fuzz.index import IndexFuzzer

            return IndexFuzzer()
    raise ValueError(name)
