"""Clients of the sidecar for ``sargo doctor``, ``sargo report``, measurements and tests.

several.py       calls of the IDL to a list of addresses
asking.py        one of several sidecars, as the jar chooses it: the next one answers when the first is down or slow
breakers.py      the circuit breaker of each address
one_address.py   the calls of the IDL to one address: a connection for each call
cancellation.py  ends a call from another thread
addresses.py     lists of addresses, and the order in which they are asked about a table
"""

from handler.sidecar.client.one_address import Client, ClientError, read_secret
from handler.sidecar.client.several import Clients

__all__ = ["Client", "ClientError", "Clients", "read_secret"]
