"""``sargo`` as a process: the command line, and an end that nothing can spoil.

Once the answer is printed, the interpreter is not taken down: a native thread of a library that lets go of a Python
object at that moment would abort the process ("terminate called without an active exception"), after all was done.
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
        with suppress(OSError, ValueError):  # nobody reads any more
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
