"""The planning process: its answers are the planner's, and its time and memory end."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handler import open_table
from handler.sidecar.decisions.planning import SMALL, PlanningLimits, plan_filter
from handler.sidecar.decisions.planning_process import PlanningFailed, PlanningJob, PlanningProcess, TableSource
from handler.sidecar.view import View
from tests.handler.sidecar import hostile_filters as hostile
from tests.handler.sidecar.decisions.test_planning import FILTERS, query
from tests.index_store.synthetic import write_table

LIMITS = PlanningLimits(filter_bytes=1 << 20, nodes=250_000)


def source_of(folder, **given):
    view = View(open_table(folder))
    fields = {
        "path": str(folder),
        "root": str(folder.parent),
        "storage_options": {},
        "table_options": {},
        "as_of": None,
        "signature": b"1",
        "files": view.files.digest,
        **given,
    }
    return TableSource(**fields)


def job(source, text, **given):
    return PlanningJob(**{"source": source, "query": query(text), "limits": LIMITS, **given})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("planned").resolve() / "table"
    write_table(root, 500)
    return root


@pytest.fixture(scope="module")
def process():
    running = PlanningProcess(1.0, 2 << 30)
    yield running
    running.stop()


def test_the_process_answers_as_the_planner_does(process, main_cow):
    source = source_of(main_cow)
    opened = open_table(main_cow)
    for one in FILTERS[::4]:
        planned, expected = (
            process.ask(job(source, one["filter"])),
            plan_filter(opened, None, query(one["filter"]), SMALL),
        )
        assert planned.skipped.tolist() == expected.skipped.tolist(), one["sql"]
        assert planned.full.tolist() == expected.full.tolist(), one["sql"]
        assert (planned.reasons, planned.text) == (expected.reasons, expected.text)
    text = process.ask(job(source, FILTERS[0]["filter"], wanted="explanation"))
    assert "What each condition rules out" in text


def test_a_filter_that_takes_too_long_is_given_up_and_the_next_is_answered(process, folder):
    source = source_of(folder)
    pid = process.ask(job(source, hostile.encoded(hostile.less(3)))) and process.pid
    with pytest.raises(PlanningFailed, match="more than 1 CPU seconds") as failed:
        process.ask(job(source, hostile.encoded(hostile.doubled(15))))
    assert failed.value.is_final
    assert process.ask(job(source, hostile.encoded(hostile.less(3)))).skipped.any()
    assert process.pid == pid  # the timer ended the job, not the process


def test_other_files_than_those_of_the_view_give_no_answer(process, folder):
    text = hostile.encoded(hostile.less(3))
    for given in ({"files": b"others"}, {"files": b"others", "signature": b"2"}):
        with pytest.raises(PlanningFailed, match="the table changed") as failed:
            process.ask(job(source_of(folder, **given), text))
        assert not failed.value.is_final
    assert process.ask(job(source_of(folder), text)).skipped.any()


def test_a_commit_is_seen_by_its_signature(process, tmp_path):
    root = tmp_path.resolve() / "table"
    write_table(root, 20)
    text = hostile.encoded(hostile.less(3))
    assert len(process.ask(job(source_of(root), text)).skipped) == 20
    shutil.rmtree(root)
    write_table(root, 30)
    assert len(process.ask(job(source_of(root, signature=b"2"), text)).skipped) == 30


def test_a_link_that_leads_out_of_the_root_is_not_followed(process, folder, tmp_path):
    link = tmp_path.resolve() / "link"
    link.symlink_to(folder)
    with pytest.raises(PlanningFailed):
        process.ask(job(source_of(folder, path=str(link), root=str(tmp_path)), hostile.encoded(hostile.less(3))))


def test_a_process_that_ends_costs_one_answer(process, folder):
    source, text = source_of(folder), hostile.encoded(hostile.less(3))
    process.ask(job(source, text))
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(PlanningFailed, match="ended"):
        process.ask(job(source, text))
    assert process.ask(job(source, text)).skipped.any()


def test_what_looks_at_no_signal_is_ended_by_the_system():
    """As an interpreter without memory is, which tries for ever to handle that."""
    program = """
import itertools
from handler.sidecar.decisions.planning_process import _cpu_limit, _limit
_limit("RLIMIT_CORE", 0)
with _cpu_limit(0.1):
    pass
with _cpu_limit(0.1):
    sum(itertools.repeat(0))
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert ended.returncode == -signal.SIGXCPU


def test_a_job_without_memory_is_refused_for_good():
    program = """
import re
from pathlib import Path
from types import SimpleNamespace
from handler.sidecar.decisions import planning_process as planning
held = int(re.search(r"VmData:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
planning._limit("RLIMIT_DATA", held + (64 << 20))
planning._WORK = {"plan": lambda *_: bytearray(1 << 30)}
tables = SimpleNamespace(open=lambda source: None, close=lambda: None)
job = SimpleNamespace(source=SimpleNamespace(as_of=None), query=None, limits=None, wanted="plan")
failed = planning._answer(job, tables, 60.0)
print(failed.why, failed.is_final)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "the filter takes more memory than planning_bytes True"


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux lowers a limit of another process")
def test_memory_is_limited(folder):
    """What a process needs for itself differs between machines: the limit is lowered to that and a little."""
    process = PlanningProcess(5.0, 2 << 30)
    try:
        source = source_of(folder)
        assert process.ask(job(source, hostile.encoded(hostile.less(3)))).skipped.any()
        assert resource.prlimit(process.pid, resource.RLIMIT_DATA)[0] == 2 << 30
        held = int(re.search(r"VmData:\s*(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())[1]) << 10
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (held + (4 << 20), resource.RLIM_INFINITY))
        with pytest.raises(PlanningFailed, match=r"memory|ended") as failed:
            process.ask(job(source, hostile.encoded(hostile.one_of(15_000))))
        assert failed.value.is_final
        if process.pid is not None:  # it has not ended
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (2 << 30, resource.RLIM_INFINITY))
        assert process.ask(job(source, hostile.encoded(hostile.less(3)))).skipped.any()
    finally:
        process.stop()
