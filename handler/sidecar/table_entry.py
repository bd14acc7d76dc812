"""One table of the sidecar: its views, the work on it that is under way, and its state for people."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from handler.sidecar.idl import Refused
from handler.sidecar.reading.current_view import CurrentView
from handler.sidecar.reading.looks import TableReader
from handler.sidecar.roots.allowed_roots import AllowedTable
from handler.sidecar.view import View

T = TypeVar("T")

__all__ = ["TableEntry", "TableState", "TableUnavailable"]


class TableUnavailable(SargoError):  # noqa: N818 - a state, not a fault of the caller
    """The table could not be opened at the last attempt. ``why``: the error of that attempt; whether it may pass."""

    def __init__(self, why: str, *, may_pass: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.may_pass = may_pass


@frozen(kw_only=True)
class TableState:
    """What the sidecar's page shows of a table. ``age``: seconds since its timeline was read last."""

    table: str
    state: Literal["current", "old state", "cannot be read", "opening"]
    why: str
    instant: str | None
    table_type: str
    version: int | None
    slices: int
    nbytes: int
    age: float | None


@dataclass(slots=True, kw_only=True)
class TableEntry:
    """A table and its views.

    current     the latest view
    older       views of older instants
    tasks       the plans and views that are being made, at most ``max_tasks``
    lock        held by the task that makes a plan
    older_lock  held by the task that reads an older instant
    """

    location: AllowedTable
    options: Mapping[str, str]
    reader: TableReader
    max_tasks: int
    current: CurrentView = field(init=False)
    older: OrderedDict[str, View] = field(default_factory=OrderedDict)
    tasks: dict[tuple[object, ...], asyncio.Task[Any]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    older_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def view(self) -> View | None:
        return self.current.view

    @property
    def nbytes(self) -> int:
        return sum(view.nbytes for view in (self.view, *self.older.values()) if view is not None)

    async def once(self, key: tuple[object, ...], make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of ``make``. Concurrent callers share one computation, which ends even when all have left.

        Raises Refused when too much is being worked on.
        """
        task: asyncio.Task[T] | None = self.tasks.get(key)
        if task is None:
            if len(self.tasks) >= self.max_tasks:
                raise Refused("busy", f"{len(self.tasks)} questions about this table are being worked on")
            task = asyncio.ensure_future(make())
            self.tasks[key] = task
            task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)

    def _end(self, key: tuple[object, ...], done: asyncio.Task[Any]) -> None:
        self.tasks.pop(key, None)
        if not done.cancelled():
            done.exception()  # retrieved here, for every caller may have left

    def state(self, name: str) -> TableState:
        """What the sidecar's page shows of it, under this name."""
        view, current = self.view, self.current
        return TableState(
            table=name,
            state="old state"
            if current.is_kept
            else "cannot be read"
            if current.failure is not None
            else "opening"
            if view is None
            else "current",
            why=current.failure or "",
            instant=None if view is None else view.instant,
            table_type="" if view is None else str(view.table_type),
            version=None if view is None else view.version,
            slices=0 if view is None else len(view.files.slices),
            nbytes=self.nbytes,
            age=None if view is None else current.age,
        )
