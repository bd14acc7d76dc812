"""``sargo`` as a process: runs the command line and exits without shutting the interpreter down.

During the shutdown of the interpreter, a native thread of a library that releases a Python object aborts the process
("terminate called without an active exception"), after the answer was printed.

Nothing ends with a traceback: signals become exit codes (``exit_codes``), a closed stdin, stdout or stderr is opened
anew so that no file of a table gets its number, and errors in threads and destructors are one line on stderr.

What the interpreter has not loaded itself is imported after signals are answered: until then Ctrl-C is a traceback.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from types import FrameType
    from typing import NoReturn

__all__ = ["run"]

#: New objects before the collector of garbage runs; loading the libraries makes about as many.
_OBJECTS = 200_000
#: Signals that stop a command; the exit code is 128 and the number, as a shell counts.
_STOPPING = ("SIGHUP", "SIGINT", "SIGTERM")


class _Stopped(BaseException):
    """A signal asked the process to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


def run() -> NoReturn:
    """Run the command line; the exit code is the one that it ends with."""
    code: object = 0
    stopped = False
    try:
        _answer_signals()
        _open_closed_streams()
        _report_in_one_line()
        _start_lightly()
        from handler.cli.main import main

        main()
    except SystemExit as end:
        code = end.code
    except _Stopped as signalled:
        code, stopped = signalled.code, True
        _say("stopped")
    except BaseException as error:  # a broken installation, or an error that no command can catch
        code = _own_fault(error)
    try:
        if not stopped:
            _end_well()
    except _Stopped as signalled:
        code = signalled.code
    _leave(code if isinstance(code, int) else int(code is not None))


def _end_well() -> None:
    """Wait for threads, and run what is registered for the end."""
    import atexit
    import threading

    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()


def _leave(code: int) -> NoReturn:
    for number in _stopping():
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the reader has closed the pipe
            continue
    os._exit(code)


def _answer_signals() -> None:
    """Raise ``_Stopped`` for signals that stop a command, unless the process was started with the signal ignored."""

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        signal.signal(number, lambda number, _: os._exit(128 + number))  # the second one does not wait
        raise _Stopped(number)

    for number in _stopping():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def _stopping() -> list[int]:
    """The numbers of the signals that stop a command; Windows lacks one."""
    return [number for number in (getattr(signal, name, None) for name in _STOPPING) if number is not None]


def _open_closed_streams() -> None:
    """Open file descriptors 0 to 2 that are closed. A write to a stdout that was closed fails, as it would have."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole process


def _report_in_one_line() -> None:
    """Warnings, and errors in threads and destructors that nobody can catch, are one line on stderr each."""
    import threading
    import warnings

    def in_thread(arguments: threading.ExceptHookArgs) -> None:
        _say(f"a thread ended with {arguments.exc_type.__name__}: {arguments.exc_value}")

    def unraisable(arguments: sys.UnraisableHookArgs) -> None:
        if not isinstance(arguments.exc_value, _Stopped):
            _say(f"ignored {arguments.exc_type.__name__}: {arguments.exc_value}")

    def warning(message: Warning | str, *place: object, **further: object) -> None:
        del place, further
        _say(f"warning: {message}")

    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
    warnings.showwarning = warning


def _start_lightly() -> None:
    """Leave out what is for long computations: a command on a small table takes most of its time to load its libraries.

    numpy starts no thread of OpenBLAS for each core, since nothing here multiplies matrices. The collector waits for
    ``_OBJECTS`` new objects: those of modules all stay. ``sargo serve`` collects as often as Python does by default.
    """
    import gc

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS)


def _own_fault(error: BaseException) -> int:
    if isinstance(error, MemoryError | ImportError):
        _say(
            f"a library cannot be loaded, check the installation: {error}" if str(error) else "there is no memory left"
        )
        return 4
    if os.environ.get("SARGO_TRACEBACK"):
        import traceback

        traceback.print_exc()
    _say(f"a fault of Sargo's own, please report it: {type(error).__name__}: {error}")
    return 70


def _say(text: str) -> None:
    try:
        sys.stderr.write(f"sargo: {' '.join(text.split())}\n")
    except (OSError, ValueError, AttributeError):
        return
