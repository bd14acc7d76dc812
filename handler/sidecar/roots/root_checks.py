"""Why roots cannot be read: a client that is missing, a cluster that does not answer, a folder that is not there.

Each root is asked once, and all of them at the same time. One that has not answered in time is a cause, and its thread
is left behind. A cause holds no secret (``storage.masking``).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from evaluator.language.errors import SargoError
from index_store.storage.storage import Storage

__all__ = ["check_roots"]

_NOT_THERE = "there is no such folder, or it is empty"
#: Seconds that the storage has beyond its deadline, to say the cause itself.
_GRACE = 0.5


def check_roots(
    roots: Mapping[str, Any], options: Mapping[str, Mapping[str, str]], seconds: float = 10.0
) -> dict[str, str]:
    """The cause by root, without the roots that can be read. Never raises.

    ``roots``: paths and URIs with their file systems, None where the ``options`` of the root open one.
    """
    answers: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
    for root, filesystem in roots.items():

        def ask(root: str = root, filesystem: Any = filesystem) -> None:
            answers.put((root, _cause(root, filesystem, options.get(root, {}), seconds)))

        threading.Thread(target=ask, daemon=True, name="sargo-root").start()
    causes: dict[str, str | None] = dict.fromkeys(roots, f"no answer within {seconds:g} seconds")
    end = time.monotonic() + seconds + _GRACE
    with suppress(queue.Empty):
        for _ in roots:
            path, cause = answers.get(timeout=max(0.0, end - time.monotonic()))
            causes[path] = cause
    return {path: cause for path, cause in causes.items() if cause is not None}


def _cause(root: str, filesystem: Any, options: Mapping[str, str], seconds: float) -> str | None:
    once = {name: value for name, value in options.items() if name.lower() not in ("tries", "deadline")}
    once |= {"tries": "1", "deadline": f"{seconds:g}"}
    try:
        storage = Storage.at(root, filesystem, once if filesystem is None else {})
        return None if storage.exists("") else _NOT_THERE
    except SargoError as error:
        return " ".join(str(error).split())
    except Exception as error:  # clients have errors of their own
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
