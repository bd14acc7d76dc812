"""Tables of the test data."""

from tests.handler.conftest import unpack as unpack
