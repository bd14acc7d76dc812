"""The installed command as a process: exit codes, a closed pipe, and what runs at the end of it."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize("where", ["lambda: 1 / 0", "lambda: [][1]"])
def test_a_fault_of_our_own_is_one_line_and_a_code_of_its_own(where):
    before = f"import handler.cli.main; handler.cli.main.main = {where};"
    done = sargo("--version", before=before)
    assert done.returncode == 70
    assert done.stdout == ""
    assert done.stderr.startswith("sargo: a fault of Sargo's own, please report it: ")
    assert "Error" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_traceback_of_a_fault_is_shown_to_those_who_ask_for_it():
    before = "import handler.cli.main; handler.cli.main.main = lambda: 1 / 0;"
    done = sargo("--version", before=before, env={**os.environ, "SARGO_TRACEBACK": "1"})
    assert done.returncode == 70
    assert "Traceback" in done.stderr
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
    assert done.returncode == 0
