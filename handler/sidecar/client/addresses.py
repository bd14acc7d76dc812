"""The addresses of several sidecars, and the order in which they are asked about a table: rendezvous hashing.

The addresses are sorted by ``SHA-256(address LF path)``, the greatest first. Clients that have the same list, in any
order, prefer the same sidecar for a table, so one sidecar has the table open. An address that is added takes over its
own tables only, and one that is removed leaves its tables to the others. The path is that of the table's location,
decoded, without scheme and authority. The jar does the same (``Address.java``); ``addresses.properties`` has the
examples that both are tested with.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Sequence

from handler.sidecar.roots.locations import read_location

__all__ = ["MAX_ADDRESSES", "in_order", "is_loopback", "split_address", "split_addresses", "table_path"]

#: The longest list.
MAX_ADDRESSES = 64
_HOST_AND_PORT = re.compile(r"\[?([^\[\],;\s]+)\]?:([1-9][0-9]{0,4})")
_MAX_PORT = 65535


def split_address(text: str) -> tuple[str, int]:
    """Host and port of an address. Raises ValueError."""
    match = _HOST_AND_PORT.fullmatch(text)
    if match is None or int(match[2]) > _MAX_PORT:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return match[1], int(match[2])


def is_loopback(address: str) -> bool:
    """Whether each machine reaches itself by this address."""
    host = address.rpartition(":")[0].strip("[]").lower()
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".") == "localhost"


def split_addresses(text: str) -> tuple[str, ...]:
    """The addresses of a list that is joined by commas, each once. Raises ValueError when there are too many."""
    addresses = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if len(addresses) > MAX_ADDRESSES:
        raise ValueError(f"a list has at most {MAX_ADDRESSES} addresses")
    return addresses


def in_order(addresses: Sequence[str], table: str) -> list[str]:
    """The addresses in the order in which they are asked about a table. ``table``: its location on the wire."""
    path = table_path(table)
    return sorted(sorted(addresses), key=lambda address: _weight(f"{address}\n{path}"), reverse=True)


def table_path(table: str) -> str:
    """The path of a location, decoded, without repeated slashes and without one at its end."""
    try:
        path = read_location(table)[2]
    except ValueError:
        path = table
    path = re.sub("/+", "/", path)
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


def _weight(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
