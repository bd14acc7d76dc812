"""``sargo`` as a process: runs the command line and exits without shutting the interpreter down.

During the shutdown of the interpreter, a native thread of a library that releases a Python object aborts the process
("terminate called without an active exception"), after the answer was printed.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from handler.cli.main import main

__all__ = ["run"]


def run() -> NoReturn:
    """Run the command line; the exit code is the one that it ends with."""
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has closed the pipe
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
