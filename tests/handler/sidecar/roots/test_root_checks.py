"""Roots that cannot be read have a cause each; those that can be read have none."""

import threading

import pytest

from handler.sidecar.roots import root_checks
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.settings import Settings
from index_store import TableError


@pytest.fixture
def unreadable(monkeypatch):
    """Make roots fail or hang, by the start of their name."""
    faults = {}
    real = root_checks.Storage.at

    def at(path, filesystem=None, options=None):
        for start, fault in faults.items():
            if path.startswith(start):
                return fault(path, options)
        return real(path, filesystem, options)

    monkeypatch.setattr(root_checks.Storage, "at", at)
    return faults


def test_a_root_that_can_be_read_has_no_cause_and_one_that_is_not_there_has_one(tmp_path):
    (tmp_path / "here").mkdir()
    found = AllowedRoots([str(tmp_path / "here"), str(tmp_path / "gone")]).check()
    assert found == {str(tmp_path / "gone"): "there is no such folder, or it is empty"}


def test_the_cause_of_a_missing_client_is_whole_and_in_one_line(unreadable):
    text = "Hadoop's client cannot be used (Unable\n to load libhdfs): " + "x" * 2000

    def fail(path, options):
        raise TableError(path, f"no such file system: {text}")

    unreadable["hdfs://nn"] = fail
    (root, cause), *others = AllowedRoots(["hdfs://nn:8020/lake"]).check().items()
    assert (root, others) == ("hdfs://nn:8020/lake", [])
    assert cause.endswith("x" * 2000)
    assert "\n" not in cause


def test_an_error_of_any_kind_is_a_cause(unreadable):
    def fail(path, options):
        raise RuntimeError("a client's own")

    unreadable["s3://b"] = fail
    assert AllowedRoots(["s3a://b/lake"]).check() == {"s3://b/lake": "RuntimeError: a client's own"}


def test_a_root_that_hangs_delays_no_other_and_is_a_cause(unreadable, tmp_path):
    release = threading.Event()

    def hang(path, options):
        release.wait(60)
        raise TableError(path, "too late")

    unreadable["hdfs://nn"] = hang
    try:
        found = AllowedRoots(["hdfs://nn/lake", str(tmp_path / "gone"), str(tmp_path)]).check(seconds=0.2)
    finally:
        release.set()
    assert found == {
        "hdfs://nn/lake": "no answer within 0.2 seconds",
        str(tmp_path / "gone"): "there is no such folder, or it is empty",
    }


def test_the_storage_is_asked_once_within_the_seconds_whatever_its_options_say(unreadable):
    seen = []

    def note(path, options):
        seen.append(options)
        raise TableError(path, "no")

    unreadable["s3://b"] = note
    AllowedRoots(["s3://b"]).check({"region": "x", "Tries": "9", "deadline": "600"}, seconds=3)
    settings = Settings(roots=("hdfs://nn/a", "s3://b"), storage_options={"x": "1"}, kerberos_principal="a@R")
    unreadable["hdfs://nn"] = note
    AllowedRoots.of(settings).check(seconds=3)
    of_s3 = {"x": "1", "tries": "1", "deadline": "3"}
    assert sorted(seen[1:], key=len) == [of_s3, {**of_s3, "kerberos_principal": "a@R"}]
    assert seen[:1] == [{"region": "x", "tries": "1", "deadline": "3"}]
