"""The running sidecar of the sidecar's own tests."""

from tests.handler.sidecar.conftest import certificates, sidecar

__all__ = ["certificates", "sidecar"]
