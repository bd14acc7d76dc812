"""Lists of addresses, and the order in which they are asked: the same as the jar's (``AddressTest.java``)."""

import collections
import random

import pytest

from handler.sidecar.client.addresses import (
    MAX_ADDRESSES,
    in_order,
    is_loopback,
    split_address,
    split_addresses,
    table_path,
)
from tests.handler.sidecar.client.address_examples import EXAMPLES, text

TABLES = [f"file:/warehouse/db/table_{number}" for number in range(3000)]


def examples():
    """The examples of the Java tests, as they are in the file."""
    lines = [line.partition("=") for line in EXAMPLES.read_text("ascii").splitlines() if not line.startswith("#")]
    values = {name: value.encode().decode("unicode_escape") for name, _, value in lines}
    for name, table in values.items():
        if name.startswith("table."):
            number = name.removeprefix("table.")
            yield pytest.param(values["addresses"], table, values[f"path.{number}"], values[f"order.{number}"], id=name)


@pytest.mark.parametrize(("addresses", "table", "path", "order"), list(examples()))
def test_the_order_is_that_of_the_jar(addresses, table, path, order):
    assert table_path(table) == path
    assert in_order(split_addresses(addresses), table) == order.split(",")


def test_the_examples_are_those_of_the_program_that_writes_them():
    assert EXAMPLES.read_text("ascii") == text()


def test_the_order_of_the_list_does_not_matter():
    addresses = ["a:1", "b:2", "c:3", "d:4"]
    expected = in_order(addresses, "file:/t")
    for seed in range(10):
        random.Random(seed).shuffle(addresses)
        assert in_order(addresses, "file:/t") == expected


def test_each_address_gets_its_share_and_one_that_is_removed_moves_its_own_tables_only():
    before = {table: in_order(["a:1", "b:2", "c:3"], table)[0] for table in TABLES}
    after = {table: in_order(["a:1", "c:3"], table)[0] for table in TABLES}
    assert all(850 < count < 1150 for count in collections.Counter(before.values()).values())
    assert {table for table in TABLES if before[table] != after[table]} == {t for t in TABLES if before[t] == "b:2"}
    assert {after[table] for table in TABLES if before[table] == "b:2"} == {"a:1", "c:3"}


def test_a_list_holds_each_address_once_and_has_a_bound():
    assert split_addresses(" a:1 ,, b:2,a:1,\n") == ("a:1", "b:2")
    assert split_addresses(" , ") == ()
    many = [f"a:{port}" for port in range(1, MAX_ADDRESSES + 1)]
    assert len(split_addresses(",".join(many))) == MAX_ADDRESSES
    with pytest.raises(ValueError, match="at most"):
        split_addresses(",".join([*many, "b:1"]))


@pytest.mark.parametrize(
    ("text", "parts"),
    [("localhost:10950", ("localhost", 10950)), ("[::1]:65535", ("::1", 65535)), ("10.0.0.1:1", ("10.0.0.1", 1))],
)
def test_an_address_is_a_host_and_a_port(text, parts):
    assert split_address(text) == parts


@pytest.mark.parametrize(
    "text", ["localhost", "localhost:", ":10950", "h:0", "h:010950", "h:65536", "h:x", "a:1;b:2", "a:1,b:2", "h:\u0661"]
)
def test_anything_else_is_no_address(text):
    with pytest.raises(ValueError, match="HOST:PORT"):
        split_address(text)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        *((text, True) for text in ("127.0.0.1:1", "127.1.2.3:1", "localhost:1", "LOCALHOST.:1", "[::1]:1")),
        *((text, False) for text in ("10.127.0.1:1", "localhost.example.org:1", "[::2]:1", "128.0.0.1:1", "")),
    ],
)
def test_a_loopback_is_told_by_its_address(address, loopback):
    assert is_loopback(address) is loopback
