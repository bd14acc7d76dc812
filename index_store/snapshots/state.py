"""The state of a table that a snapshot belongs to: everything that determines its slices and statistics.

    properties, options    the table's configuration, and its options in a catalog
    timeline               completed and pending instants of the table and of its metadata table
    schema                 of the latest commit, and the names of the files with its history
    endpoint, account      as the options give them: another one may have another table of this name

Equal states have equal slices and statistics, since the files of a timeline never change. Reading a state costs two
directory listings and the properties; nothing that grows with the number of files is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import xxhash

from evaluator.language.records import frozen
from index_store.storage.storage import Storage
from index_store.table.schema_history import DIRECTORY
from index_store.table.timeline import Timeline

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["ELSEWHERE", "FORMAT", "State", "name_of", "state_of", "table_digest"]

#: Rises with every change of the stored form, or of the rules by which statistics are believed.
FORMAT = 3

#: What another endpoint or account may have under the same name.
ELSEWHERE = "given "

Instants = tuple[tuple[str, str, str], ...]


@frozen(slots=False)
class State:
    """A table's state: (requested, completed, action) of each completed instant, and (requested, action) of the others.

    ``table`` names the table, ``fixed`` is the digest of what must be equal for two states to be comparable.
    """

    table: str
    fixed: str
    instants: Instants
    pending: tuple[tuple[str, str], ...]
    metadata_instants: Instants
    metadata_pending: tuple[tuple[str, str], ...]

    @cached_property
    def digest(self) -> str:
        """A hash that differs for different states."""
        return _digest(json.dumps(self.to_dict(), sort_keys=True))

    @property
    def table_digest(self) -> str:
        return table_digest(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "table": self.table,
            "fixed": self.fixed,
            "instants": [list(one) for one in self.instants],
            "pending": [list(one) for one in self.pending],
            "metadata_instants": [list(one) for one in self.metadata_instants],
            "metadata_pending": [list(one) for one in self.metadata_pending],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> State:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""

        def instants(name: str) -> Instants:
            return tuple((str(a), str(b), str(c)) for a, b, c in plain[name])

        def pending(name: str) -> tuple[tuple[str, str], ...]:
            return tuple((str(a), str(b)) for a, b in plain[name])

        return cls(
            str(plain["table"]),
            str(plain["fixed"]),
            instants("instants"),
            pending("pending"),
            instants("metadata_instants"),
            pending("metadata_pending"),
        )


def state_of(table: Table) -> State | None:
    """The state of an open table; None when no metadata table describes it, so that no snapshot can be made.

    A table whose timeline begins with writes that only a savepoint keeps has no snapshot either: whether their files
    count is decided at each opening (``Timeline.is_disputed``). Raises TableError when a listing fails.
    """
    writes = table.timeline.writes
    if (
        table.metadata is None
        or not table.metadata_is_current
        or not writes
        or (table.timeline.start != writes[0].requested)
    ):
        return None
    names = [entry.path for entry in table.storage.files(DIRECTORY)]
    of_table = [FORMAT, sorted(table.properties.items()), sorted(table.options.items()), table.schema_text, names]
    fixed = _digest(json.dumps(of_table + [host for host in [table.storage.host] if host]))
    return State(name_of(table.storage), fixed, *_listed(table.timeline), *_listed(table.metadata.timeline))


def name_of(storage: Storage) -> str:
    """The name of the table in a directory; it begins with ELSEWHERE where the endpoint or account is not known."""
    return f"{ELSEWHERE if storage.host is None else ''}{storage.client.kind}:{storage.root}"


def table_digest(table: str) -> str:
    """The name of a table's folder."""
    return _digest(table)


def _listed(timeline: Timeline) -> tuple[Instants, tuple[tuple[str, str], ...]]:
    return (
        tuple((one.requested, one.completed, one.action) for one in timeline.instants),
        tuple(sorted(timeline.pending.items())),
    )


def _digest(text: str) -> str:
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))
