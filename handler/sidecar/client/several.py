"""One of several sidecars, as the jar chooses it (``Sidecars.java``).

    the preferred sidecar of the table           the next one (``addresses.in_order``) is asked
    -------------------------------------------  ---------------------------------------------------------------
    answers, or refuses the request              not at all
    is down, answers wrongly, or refuses         at once
    because it is busy or stopping
    has failed twice in a row                    at once, until ``breaker_seconds`` have passed; then one call passes
    says nothing for its share of the time       when the share is over

The share is the time that is left, divided by the number of sidecars that are left, and at least a quarter of the
whole. The jar goes on listening to a slow sidecar while it asks the next one; this client does not. A refusal is an
answer: it closes the breaker.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from handler.sidecar.client.addresses import in_order, split_addresses
from handler.sidecar.client.one_address import Client, ClientError, read_secret
from handler.sidecar.idl import PruneReply, Refused

__all__ = ["Clients"]

T = TypeVar("T")
#: Failures in a row after which an address is left alone, and the least share of the time that an address gets.
_FAILURES_TO_OPEN, _MIN_SHARE = 2, 4
#: Codes of refusals that are about the sidecar. The others are about the request.
_REFUSED_BY_ONE = frozenset({"busy", "stopping", "secret"})


@dataclass(slots=True)
class _Breaker:
    """How often an address failed in a row, and until when it is left alone."""

    failures: int = 0
    open_until: float = 0.0


class Clients:
    """Calls of the IDL to a list of addresses, from any thread. Raises ClientError when nobody answers, and Refused."""

    def __init__(
        self,
        addresses: str,
        seconds: float = 5.0,
        tls_ca: Path | None = None,
        secret_file: Path | None = None,
        *,
        breaker_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``addresses``: host:port, joined by commas. ``seconds``: for a whole question."""
        try:
            texts = split_addresses(addresses)
        except ValueError as error:
            raise ClientError(str(error)) from error
        if not texts:
            raise ClientError(f"{addresses!r} is not HOST:PORT, or a list of them")
        self.clients = {text: Client(text, seconds, tls_ca, read_secret(secret_file, text)) for text in texts}
        self._seconds = seconds
        self._breaker_seconds = breaker_seconds
        self._clock = clock
        self._breakers = {text: _Breaker() for text in texts}
        self._lock = threading.Lock()

    def prune(
        self,
        table: str,
        filter_: bytes,
        names: Sequence[str],
        engine: str = "hive4",
        time_zone: str = "UTC",
    ) -> PruneReply:
        """Which of the names may be skipped."""
        return self.ask(table, lambda client: client.prune(table, filter_, names, engine, time_zone))

    def ask(self, table: str, call: Callable[[Client], T]) -> T:
        """The result of a call about a table (its location on the wire), of the first sidecar that answers."""
        order = in_order(list(self.clients), table)
        end = time.monotonic() + self._seconds
        failures: list[tuple[str, Refused | ClientError]] = []
        for number, address in enumerate(order):
            left = end - time.monotonic()
            if left <= 0:
                break
            if not self._passes(address):
                failures.append((address, ClientError("it failed twice in a row and is not called for a while")))
                continue
            share = max(left / (len(order) - number), min(left, self._seconds / _MIN_SHARE))
            try:
                result = call(self.clients[address].within(share))
            except Refused as refused:
                self._record(address, is_answer=True)
                if refused.code not in _REFUSED_BY_ONE:
                    raise
                failures.append((address, refused))
            except ClientError as error:
                self._record(address, is_answer=False)
                failures.append((address, error))
            else:
                self._record(address, is_answer=True)
                return result
        raise _joined(failures)

    def explain(self, report_id: str) -> str:
        """The report, of the sidecar that has it: all are asked at once."""
        failures: list[tuple[str, Refused | ClientError]] = []
        with ThreadPoolExecutor(len(self.clients), "sargo-report") as threads:
            asked = {address: threads.submit(one.explain, report_id) for address, one in self.clients.items()}
        for address, answer in asked.items():
            try:
                return answer.result()
            except (Refused, ClientError) as error:
                failures.append((address, error))
        known = [(address, error) for address, error in failures if not _is_unknown(error)]
        raise _joined(known or failures[:1])

    def _passes(self, address: str) -> bool:
        """Whether a call may pass. After the pause one call does, and the others wait for another pause."""
        with self._lock:
            breaker, now = self._breakers[address], self._clock()
            if breaker.failures < _FAILURES_TO_OPEN:
                return True
            if now < breaker.open_until:
                return False
            breaker.open_until = now + self._breaker_seconds
            return True

    def _record(self, address: str, *, is_answer: bool) -> None:
        with self._lock:
            breaker = self._breakers[address]
            breaker.failures = 0 if is_answer else breaker.failures + 1
            breaker.open_until = self._clock() + self._breaker_seconds


def _is_unknown(error: Refused | ClientError) -> bool:
    return isinstance(error, Refused) and error.code == "unknown_report"


def _joined(failures: Sequence[tuple[str, Refused | ClientError]]) -> Refused | ClientError:
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
