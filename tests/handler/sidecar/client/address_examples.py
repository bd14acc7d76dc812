"""The examples that the order of addresses is tested with, in Java (``AddressTest``) and in Python.

python -m tests.handler.sidecar.client.address_examples        # writes EXAMPLES anew
"""

from __future__ import annotations

from pathlib import Path

from handler.sidecar.client.addresses import in_order, table_path

EXAMPLES = Path(__file__).parents[4] / "handler/java/src/test/resources/io/sargo/client/addresses.properties"
HEAD = """\
# Written by `python -m tests.handler.sidecar.client.address_examples`: the path of a table's location, and the order in
# which the addresses are asked about it. The Java tests and the Python tests read it.
"""
ADDRESSES = ("sargo1.example.org:10950", "sargo2.example.org:10950", "10.0.0.7:10950", "[::1]:10951", "localhost:1")
#: A table's location, as the jar or a Python program names it.
TABLES = (
    "file:/warehouse/t",
    "/warehouse/t",
    "hdfs://namenode:8020/warehouse/t",
    "hdfs:///warehouse/t",
    "hdfs://namenode:8020/warehouse/t/",
    "hdfs://namenode:8020//warehouse///t",
    "file:/warehouse/a%20b%2520c",
    "/warehouse/a b%20c",
    "s3a://lake/gr%C3%B6%C3%9Fe/%E8%A1%A8",
    "s3a://lake/größe/表",
    "s3a://lake",
    "s3a://lake/",
    "/",
    *(f"hdfs://namenode:8020/warehouse/db/table_{number}" for number in range(20)),
)


def text() -> str:
    lines = [f"addresses={','.join(ADDRESSES)}"]
    for number, table in enumerate(TABLES):
        lines += [
            f"table.{number}={table}",
            f"path.{number}={table_path(table)}",
            f"order.{number}={','.join(in_order(ADDRESSES, table))}",
        ]
    return HEAD + "".join(f"{_escaped(line)}\n" for line in lines)


def _escaped(line: str) -> str:
    """A line of a Java properties file."""
    return "".join(one if one.isascii() else f"\\u{ord(one):04x}" for one in line)


if __name__ == "__main__":
    EXAMPLES.write_text(text())
