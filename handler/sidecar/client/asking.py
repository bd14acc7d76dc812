"""Asks one of several sidecars, within one deadline, as the jar does (``Sidecars.java``).

    the preferred sidecar of the table           the next one (``addresses.in_order``) is asked
    -------------------------------------------  ---------------------------------------------------------------
    answers, or refuses the request              not at all
    is down, answers wrongly, or refuses         at once
    because it is busy or stopping
    has failed twice in a row (``breakers``)     at once
    says nothing for its share of the time       beside it; the answer that comes first is used

The share is the time that is left, divided by the number of sidecars that are left, and at least a quarter of the
whole. A sidecar that was overtaken by one that was asked later has failed.

Each call has a thread of its own. When the question has its answer, the connections of its other calls are shut down,
and their threads end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from handler.sidecar.client.breakers import Breakers
from handler.sidecar.client.cancellation import Cancellation
from handler.sidecar.client.one_address import Client, ClientError
from handler.sidecar.idl import Refused

__all__ = ["Asking", "Failures", "joined"]

T = TypeVar("T")
Failures = list[tuple[str, Refused | ClientError]]
#: The least share of the time that a sidecar gets is the whole divided by this.
_MIN_SHARE = 4
#: Codes of refusals that are about the sidecar. The others are about the request.
_REFUSED_BY_ONE = frozenset({"busy", "stopping", "secret"})


class _Call(Generic[T]):
    """A call to one address on a thread of its own, which puts itself into the queue when it has ended."""

    def __init__(self, client: Client, call: Callable[[Client], T], seconds: float, ended: queue.SimpleQueue[_Call[T]]):
        self.address = client.address
        self._cancellation = Cancellation()
        self._client = client.within(seconds, self._cancellation)
        self._call = call
        self._ended = ended
        self._reply: list[T] = []
        self._failure: BaseException | None = None
        self.cancel = self._cancellation.cancel
        threading.Thread(target=self._run, name="sargo-ask", daemon=True).start()

    def _run(self) -> None:
        try:
            self._reply.append(self._call(self._client))
        except BaseException as error:  # the caller raises it
            self._failure = error
        self._ended.put(self)

    def result(self) -> T:
        """The reply of a call that has ended. Raises what the call has raised."""
        if self._failure is not None:
            raise self._failure
        return self._reply[0]


class Asking(Generic[T]):
    """One question: the calls under way, in the order in which they began, and the sidecars that are left."""

    def __init__(
        self, order: Sequence[Client], call: Callable[[Client], T], seconds: float, breakers: Breakers
    ) -> None:
        self._waiting = deque(order)
        self._call = call
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._breakers = breakers
        self._running: list[_Call[T]] = []
        self._ended: queue.SimpleQueue[_Call[T]] = queue.SimpleQueue()
        self._failures: Failures = []

    def answer(self) -> T:
        """The first reply. Raises Refused when one refuses the request, and ClientError when nobody answers in time."""
        self._begin_next()
        while self._running:
            left = max(self._end - time.monotonic(), 0)
            share = max(left / (len(self._waiting) + 1), self._seconds / _MIN_SHARE)
            is_last = not self._waiting or share >= left
            try:
                call = self._ended.get(timeout=left if is_last else share)
            except queue.Empty:
                if is_last:
                    break
                self._begin_next()
                continue
            place = self._running.index(call)
            self._running.remove(call)
            try:
                reply = call.result()
            except Refused as refused:
                self._breakers.record(call.address, is_answer=True)
                if refused.code not in _REFUSED_BY_ONE:
                    self._record_overtaken(place)
                    raise
                self._failures.append((call.address, refused))
            except ClientError as error:
                self._breakers.record(call.address, is_answer=False)
                self._failures.append((call.address, error))
            else:
                self._breakers.record(call.address, is_answer=True)
                self._record_overtaken(place)
                return reply
            if place == len(self._running):  # it was the latest
                self._begin_next()
        for slow in self._running:
            self._breakers.record(slow.address, is_answer=False)
            self._failures.append((slow.address, ClientError(f"{slow.address}: timed out")))
        raise joined(self._failures)

    def cancel(self) -> None:
        for call in self._running:
            call.cancel()

    def _begin_next(self) -> None:
        """Begin a call to the first of the sidecars that are left whose breaker lets it pass."""
        while self._waiting:
            client = self._waiting.popleft()
            if self._breakers.passes(client.address):
                # Longer than the deadline, so that a slow call is ended here.
                seconds = self._end - time.monotonic() + 1
                self._running.append(_Call(client, self._call, seconds, self._ended))
                return
            self._failures.append(
                (client.address, ClientError("it failed twice in a row and is not called for a while"))
            )

    def _record_overtaken(self, place: int) -> None:
        """The calls that began before this one had their share of the time, and said nothing."""
        for slow in self._running[:place]:
            self._breakers.record(slow.address, is_answer=False)


def joined(failures: Failures) -> Refused | ClientError:
    """The failure of the only sidecar, or one that tells those of all: a refusal if all have refused."""
    if not failures:
        return ClientError("nobody was asked in time")
    first = failures[0][1]
    if len(failures) == 1:
        return first
    why = "; ".join(error.why if address in error.why else f"{address}: {error.why}" for address, error in failures)
    if isinstance(first, Refused) and all(isinstance(error, Refused) for _, error in failures):
        return Refused(first.code, why)
    return ClientError(why)
