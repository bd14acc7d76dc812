"""The timeline of a table: its completed and pending instants (C5).

    version   directory               completed instant                     pending
    6         ``.hoodie/``            ``<ts>.<action>``                     ``<ts>.<action>.requested|.inflight``
    8, 9      ``.hoodie/timeline/``   ``<request>_<completion>.<action>``   ``<request>.<action>.requested|.inflight``

An instant with pending files only is not completed, and files that it wrote do not count. Instants older than the
oldest listed one are archived; Hudi archives completed instants only, and the history has their completion times
(``history``).
Hudi: ``HoodieActiveTimeline``, ``ActiveTimelineV2``, ``BaseHoodieTimeline.getFirstNonSavepointCommit``.

Facts: docs/facts/hudi-timeline.md#instants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from functools import cached_property
from typing import Any

from evaluator.language.records import frozen
from index_store.formats.bounded.json_text import MAX_COMMIT
from index_store.storage.errors import TableError, naming_table
from index_store.storage.storage import Storage
from index_store.table.history import History
from index_store.table.instant_details import is_of_another, read_details

__all__ = ["END_OF_TIME", "WRITE_ACTIONS", "Instant", "Timeline", "parse_as_of", "read_timeline"]

#: Actions that write data files. A finished clustering is a replacecommit, a finished compaction a commit.
WRITE_ACTIONS = frozenset({"commit", "deltacommit", "replacecommit"})
#: An instant after every instant: longer and greater than any that Hudi writes.
END_OF_TIME = "9" * 24
#: Those of them that write base files under their own name. A deltacommit names the base files that it adds logs to.
_WRITES_BASE_FILES = frozenset({"commit", "replacecommit"})
_COMPACTIONS = frozenset({"compaction", "logcompaction"})
#: Table services write with the schema that they were planned with (``WriteOperationType.canUpdateSchema``).
_SERVICES = frozenset({"CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT"})
_SERVICE_WORDS = (b"CLUSTER", b"COMPACT", b"INDEX")
_NAME = re.compile(r"(\d+)(?:_(\d+))?\.([a-z]+)(?:\.(requested|inflight))?")
_DATE_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{3}))?)?")


@frozen
class Instant:
    """One completed action: when it was requested (its name), when it completed, and its file."""

    requested: str
    completed: str
    action: str
    file: str = ""
    size: int = 0


@frozen(slots=False)
class Timeline:
    """Completed instants in the order of their names, and the names of the pending ones with their actions."""

    instants: tuple[Instant, ...]
    pending: Mapping[str, str] = field(default_factory=dict)
    storage: Storage | None = None
    history: History | None = None

    @cached_property
    def by_name(self) -> Mapping[str, Instant]:
        return {instant.requested: instant for instant in self.instants}

    @cached_property
    def writes(self) -> tuple[Instant, ...]:
        """Completed instants that wrote data files."""
        return tuple(instant for instant in self.instants if instant.action in WRITE_ACTIONS)

    @cached_property
    def start(self) -> str:
        """The first write that is still listed and not merely kept by a savepoint; older ones are archived.

        Where every write is saved, it is the first of them.
        """
        saved = {instant.requested for instant in self.instants if instant.action == "savepoint"}
        listed = [write.requested for write in self.writes]
        return next((name for name in listed if name not in saved), listed[0] if listed else "")

    @property
    def last(self) -> Instant | None:
        """The latest completed write."""
        return self.writes[-1] if self.writes else None

    @cached_property
    def pending_compactions(self) -> frozenset[str]:
        return frozenset(name for name, action in self.pending.items() if action in _COMPACTIONS)

    def is_committed(self, name: str) -> bool:
        """Whether the instant that a file's name carries has completed: it is listed, or archived."""
        return name in self.by_name or (name < self.start and name not in self.pending)

    def is_disputed(self, name: str) -> bool:
        """Whether an instant is archived, and younger than a write that a savepoint keeps in the timeline.

        It is committed, but Hudi's own file view (0.15 to 1.2) starts at that write and passes over its files.
        """
        return (
            bool(self.writes)
            and self.writes[0].requested < name < self.start
            and name not in self.by_name
            and name not in self.pending
        )

    def completion(self, name: str) -> str | None:
        """The completion time of a committed instant; None for an archived one that the history lacks."""
        instant = self.by_name.get(name)
        if instant is not None:
            return instant.completed
        return self.history.completion(name) if self.history else None

    def ahead(self, instants: Iterable[Instant]) -> AbstractContextManager[None]:
        """Inside the block, the details of these instants are fetched ahead where each costs a round trip."""
        return nullcontext() if self.storage is None else self.storage.ahead([one.file for one in instants if one.file])

    def may_set_schema(self, instant: Instant) -> bool:
        """Whether the schema in a write's file can be the table's; that of a table service cannot."""
        if self.storage is None or not instant.file:
            return True
        data = self._content(self.storage, instant)
        return (
            not any(word in data for word in _SERVICE_WORDS)
            or self.details(instant).get("operationType") not in _SERVICES
        )

    def details(self, instant: Instant) -> Mapping[str, Any]:
        """The content of an instant's file (``instant_details``); {} for an empty file. Raises TableError."""
        if self.storage is None or not instant.file:
            return {}
        data = self._content(self.storage, instant)
        with naming_table(self.storage.absolute(instant.file)):
            return read_details(data)

    def _content(self, storage: Storage, instant: Instant) -> bytes:
        data = storage.read(instant.file, MAX_COMMIT)
        if instant.action in _WRITES_BASE_FILES and is_of_another(data, instant.requested):
            raise TableError(
                storage.absolute(instant.file), "it names files of other instants only: it is another's file"
            )
        return data


def read_timeline(storage: Storage, history: str = "history") -> Timeline:
    """The active timeline in a directory; files that are no instants are ignored.

    ``history`` is the directory below it in which versions 8 and 9 keep archived instants.
    """
    done: dict[tuple[str, str], Instant] = {}
    pending: dict[str, str] = {}
    for entry in storage.files():
        match = _NAME.fullmatch(entry.path)
        if not match:
            continue
        requested, completed, action, state = match.groups()
        if state or action == "inflight":
            pending[requested] = "commit" if action == "inflight" else action
        else:
            done[requested, action] = Instant(requested, completed or requested, action, entry.path, entry.size)
    instants = _in_order(done.values())
    finished = {instant.requested for instant in instants}
    return Timeline(
        instants,
        {name: action for name, action in pending.items() if name not in finished},
        storage,
        History(storage.below(history)),
    )


def _in_order(instants: Iterable[Instant]) -> tuple[Instant, ...]:
    return tuple(sorted(instants, key=lambda instant: (instant.requested, instant.completed)))


def parse_as_of(text: str) -> str:
    """An instant in the form of a user's text (digits, or ``2026-11-21[ 03:10:57[.123]]``) in the timeline's form.

    Times of second precision mean the end of that second, as in Hudi. Raises ValueError for anything else.
    """
    if text.isascii() and text.isdigit():
        return text + "999" if len(text) == 14 else text
    match = _DATE_TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not an instant (yyyyMMddHHmmssSSS) or a date")
    year, month, day, hour, minute, second, millis = match.groups()
    return f"{year}{month}{day}{hour or '00'}{minute or '00'}{second or '00'}{millis or ('999' if second else '000')}"
