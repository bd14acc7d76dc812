"""The process that py-spy looks at: prepares a hot path, and repeats it for some seconds.

python looping.py NAME SECONDS    in the folder of a checkout, which stands first in the path of the modules
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def repeated(call: Callable[[], object], seconds: float) -> None:
    """What is below this function is counted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        call()


def main(name: str, seconds: str) -> None:
    hot_paths = runpy.run_path(str(Path(__file__).parents[1] / "compare/hot_paths.py"))["HOT_PATHS"]
    with tempfile.TemporaryDirectory() as folder:
        call = hot_paths[name](Path(folder))
        call()
        repeated(call, float(seconds))
    os._exit(0)  # what the path has started, such as a sidecar, is not taken down


if __name__ == "__main__":
    main(*sys.argv[1:])
