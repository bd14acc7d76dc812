"""One of several sidecars, as the jar chooses it: the table's own one, or the next that answers (``asking``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from handler.sidecar.client.addresses import in_order, split_addresses
from handler.sidecar.client.asking import Asking, Failures, joined
from handler.sidecar.client.breakers import Breakers
from handler.sidecar.client.one_address import Client, ClientError, read_secret
from handler.sidecar.idl import PruneReply, Refused

__all__ = ["Clients"]

T = TypeVar("T")


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
        self._breakers = Breakers(texts, breaker_seconds, clock)

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
        order = [self.clients[address] for address in in_order(list(self.clients), table)]
        asking = Asking(order, call, self._seconds, self._breakers)
        try:
            return asking.answer()
        finally:
            asking.cancel()

    def explain(self, report_id: str) -> str:
        """The report, of the sidecar that has it: all are asked at once."""
        failures: Failures = []
        with ThreadPoolExecutor(len(self.clients), "sargo-report") as threads:
            asked = {address: threads.submit(one.explain, report_id) for address, one in self.clients.items()}
        for address, answer in asked.items():
            try:
                return answer.result()
            except (Refused, ClientError) as error:
                failures.append((address, error))
        known = [(address, error) for address, error in failures if not _is_unknown(error)]
        raise joined(known or failures[:1])


def _is_unknown(error: Refused | ClientError) -> bool:
    return isinstance(error, Refused) and error.code == "unknown_report"
