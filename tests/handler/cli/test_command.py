"""The installed command as a process: exit codes, a closed pipe, and what runs at the end of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUN = "from handler.cli.process import run; run()"


def sargo(*arguments, before="", **options):
    command = [sys.executable, "-c", f"{before}{RUN}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--version"], 0, "sargo, version"),
        (["inspect", "no such table"], 3, "sargo: "),
        (["prune", "no such table"], 2, "sargo: "),
        (["no such command"], 2, "sargo: "),
    ],
)
def test_the_process_ends_with_the_code_of_the_command(arguments, code, said):
    done = sargo(*arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_registered_for_the_end_runs_and_threads_are_waited_for():
    before = (
        "import atexit, threading, time; atexit.register(print, 'at the end');"
        "threading.Thread(target=lambda: (time.sleep(3), print('thread'))).start();"
    )
    lines = sargo("--version", before=before).stdout.splitlines()
    assert "thread" in lines
    assert lines[-1] == "at the end"


def test_a_fault_of_our_own_is_shown_whole():
    done = sargo("--version", before="import handler.cli.process; handler.cli.process.main = lambda: 1 / 0;")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_nobody_reads_any_more(main_cow):
    """``sargo ... | head -0``: no second error, no traceback."""
    reader = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.PIPE)
    assert reader.stdin is not None
    reader.wait(60)
    done = subprocess.run(
        [sys.executable, "-c", RUN, "inspect", str(main_cow)],
        stdout=reader.stdin,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    reader.stdin.close()
    assert done.stderr == ""
    assert done.returncode in (0, 1)  # rich ends with 1
