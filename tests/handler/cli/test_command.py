"""The installed command as a process: exit codes, a closed pipe, and what runs at the end of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sampling import share

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


# -- signals, and streams that are closed or full


def wait_until_it_sleeps(process):
    """Wait until a process reads, where the system tells: a signal right before the read is seen after it."""
    stat = Path(f"/proc/{process.pid}/stat")
    deadline = time.monotonic() + 60
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S" and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize(("signalled", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_command_with_a_code_and_one_line(signalled, code, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [sys.executable, "-c", RUN, "decode", f"@{fifo}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with fifo.open("wb"):  # waits until the command has opened it
        wait_until_it_sleeps(process)
        process.send_signal(getattr(signal, signalled))
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (code, "", "sargo: stopped\n")


def test_a_signal_that_the_caller_ignores_is_ignored(tmp_path):
    """As ``nohup`` does with SIGHUP."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    before = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
    command = [sys.executable, "-c", f"{before}{RUN}", "decode", f"@{fifo}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with fifo.open("wb") as file:
        process.send_signal(signal.SIGHUP)
        file.write(b"nonsense")
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert "stopped" not in stderr


def test_a_signal_removes_what_the_demo_unpacked(tmp_path):
    """The signal comes while the demo runs: its first line is read, and then the pipe is full."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import handler.demo.run as demo, time; demo._show_table = lambda *_: time.sleep(60);{RUN}",
            "demo",
        ],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("sargo-demo-*/main_cow/.hoodie/hoodie.properties")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    stderr = process.communicate(timeout=60)[1]
    assert (process.returncode, stderr) == (143, "sargo: stopped\n")
    assert not list(tmp_path.iterdir())


SHELL = [
    ("> /dev/full", 4, "No space left on device"),
    (">&-", 4, "cannot write to stdout"),
    (">&- 2>&-", 4, ""),
    (">&- 2>&- <&-", 4, ""),
    ("2> /dev/full", 0, ""),
    ("2>&- | head -1", 0, ""),
]


@pytest.mark.parametrize(("streams", "code", "why"), share(SHELL, 2), ids=str)
def test_streams_that_are_closed_or_full(streams, code, why, main_cow):
    call = shlex.join([sys.executable, "-c", RUN, "files", str(main_cow)])
    done = subprocess.run(
        ["bash", "-c", f"{call} {streams}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == bool(why)


@pytest.mark.parametrize("streams", ["2> /dev/full", "2>&-"])
def test_an_error_whose_line_cannot_be_written_keeps_its_code(streams):
    call = shlex.join([sys.executable, "-c", RUN, "prune", "nosuch"])
    assert subprocess.run(["bash", "-c", f"{call} {streams}"], timeout=120, check=False).returncode == 2


def test_a_closed_stdin_is_bad_input(main_cow):
    call = shlex.join([sys.executable, "-c", RUN, "prune", str(main_cow), "--where", "-"])
    done = subprocess.run(["bash", "-c", f"{call} <&-"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, "sargo: cannot read stdin: it is closed\n")


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
def test_a_locale_of_ascii_gets_ascii(variables, main_cow):
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "PYTHONIO", "PYTHONUTF"))
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, "explain", str(main_cow), "--where", "i = 100 OR u = 3"],
        env=plain | variables,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"+-- i = 100  ########.." in done.stdout


def test_a_warning_and_an_error_of_a_thread_are_one_line():
    before = (
        "import threading, warnings; import handler.cli.main as cli;"
        "cli.main = lambda: (warnings.warn('a folder is\\nnot used'),"
        " threading.Thread(target=lambda: [][1]).start());"
    )
    done = sargo(before=before)
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        "sargo: a thread ended with IndexError: list index out of range",
        "sargo: warning: a folder is not used",
    ]


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root, to take its rights away")
def test_root_without_its_rights_reads_a_table_whose_metadata_folder_is_closed(main_cow_copy):
    _reads_by_listing(main_cow_copy, shlex.split("setpriv --bounding-set -dac_override,-dac_read_search"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_table_whose_metadata_folder_is_closed_is_read_by_listing(main_cow_copy):
    _reads_by_listing(main_cow_copy, [])


def _reads_by_listing(table, prefix):
    metadata = table / ".hoodie" / "metadata"
    metadata.chmod(0)
    try:
        command = [*prefix, sys.executable, "-c", RUN, "prune", str(table), "--where", "i = 100", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    finally:
        metadata.chmod(0o755)
    assert (done.returncode, done.stderr) == (0, "")
    plan = json.loads(done.stdout)
    assert plan["counts"]["slices"] == 14
    assert any("ermission denied" in reason["text"] for reason in plan["reasons"])
