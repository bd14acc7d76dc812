"""The fuzzers find faults that are planted, make them small, and say how to repeat them."""

from __future__ import annotations

import base64
import gc
import random
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sarg
from evaluator.binding import rules
from evaluator.language import expression as ex
from handler import prune
from handler.catalyst.document import DocumentError, read_document
from index_store.own.maintenance.operations import vacuum
from index_store.own.store.folder import Folder
from tests.fuzz.campaign import Campaign, command, input_of, run, try_case
from tests.fuzz.frames_sidecar import FuzzedSidecar
from tests.fuzz.fuzzer import Fault
from tests.fuzz.fuzzers import named
from tests.fuzz.index import IndexCase, IndexFuzzer
from tests.fuzz.kryo import seeds


def found(name: str, seconds: float = 30.0) -> Campaign:
    campaign = run(named(name), 1, seconds, say=lambda _: None, enough=1, shrink_seconds=0.4)
    assert campaign.findings, f"{campaign.line()}: the planted fault was not found"
    return campaign


def test_a_decoder_that_lets_an_error_of_python_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = sarg.decode_detailed

    def broken(data: bytes | str) -> sarg.Decoded:
        try:
            return real(data)
        except sarg.DecodeError as error:
            raise IndexError(error.why) from None

    monkeypatch.setattr(sarg, "decode_detailed", broken)
    [finding] = found("kryo").findings
    assert "IndexError" in finding.why
    assert len(finding.case) < 100, "it was not made smaller"
    again = command(finding, None).partition("=")[2]
    assert input_of(again) == finding.case
    assert isinstance(try_case(named("kryo"), finding.case)[1], IndexError)


def test_base64_that_no_file_could_be_called_is_a_case() -> None:
    case = bytes(range(256)) * 4
    assert input_of(base64.urlsafe_b64encode(case).decode()) == case


def test_a_decoder_whose_answer_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = sarg.decode_detailed, [0]

    def forgetful(data: bytes | str) -> sarg.Decoded:
        decoded = real(data)
        calls[0] += 1
        turned = ex.Not(decoded.expression) if calls[0] % 2 else decoded.expression
        return sarg.Decoded(decoded.profile, decoded.exprnode, decoded.search_argument, turned)

    monkeypatch.setattr(sarg, "decode_detailed", forgetful)
    assert "two trees" in found("kryo").findings[0].why


def test_a_decoder_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(data: bytes | str) -> sarg.Decoded:
        while True:
            pass

    monkeypatch.setattr(sarg, "decode_detailed", endless)
    fuzzer = named("kryo")
    fuzzer.cpu_seconds = 0.05
    assert "CPU seconds" in str(try_case(fuzzer, seeds()[0])[1])


def test_a_decoder_that_takes_much_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(data: bytes | str) -> sarg.Decoded:
        bytearray(b"x" * (128 << 20))
        raise sarg.DecodeError(0, "no")

    monkeypatch.setattr(sarg, "decode_detailed", greedy)
    fuzzer = named("kryo")
    fuzzer.memory = 32 << 20
    gc.collect()  # garbage of other tests, given back meanwhile, would hide what is taken
    assert "MiB of memory" in str(try_case(fuzzer, seeds()[0])[1])


def test_a_rule_that_loses_a_row_is_found_by_sql_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules._CAN_BE_TRUE, "<=", lambda a, b: a.lo < b.hi)
    monkeypatch.setattr("tests.fuzz.known_tables.TABLES", 1)
    monkeypatch.setattr("tests.fuzz.sql._mutated", lambda _, text: text)
    monkeypatch.setattr("tests.fuzz.sql.SqlGrammar.condition", lambda grammar: f"si <= {grammar._rng.randint(-6, 12)}")
    [finding] = found("sql").findings
    assert finding.why.startswith(("sound", "search", "layers", "De Morgan", "one table"))
    assert len(finding.case) < 120


def test_a_reader_of_sparks_filters_that_lets_an_error_through_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(data: bytes, zone: str, **limits: int) -> ex.HudiExpression:
        try:
            return read_document(data, zone, **limits)
        except DocumentError as error:
            raise KeyError(error.why) from None

    monkeypatch.setattr("tests.fuzz.catalyst.read_document", broken)
    assert "KeyError" in found("catalyst").findings[0].why


def test_a_plan_that_believes_damaged_files_is_found_by_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def credulous(*given: Any, **options: Any) -> SimpleNamespace:
        plan = prune(*given, **options)
        is_damaged = any(reason.scope == "store" for reason in plan.reasons)
        skipped = plan.slices if is_damaged else plan.skipped
        return SimpleNamespace(slices=plan.slices, skipped=skipped, fully_matched=(), reasons=())

    monkeypatch.setattr("tests.fuzz.table.prune", credulous)
    monkeypatch.setattr("tests.fuzz.table.TABLES", ("1.2.0_replaced_mor",))
    assert "wrong skip" in found("table").findings[0].why


def test_an_index_that_a_vacuum_damages_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def greedy(folder: Folder, retention: timedelta) -> None:
        vacuum(folder, retention)
        max(Path(folder.path).rglob("*.parquet"), key=lambda path: path.stat().st_size).unlink()

    fuzzer = IndexFuzzer()
    with fuzzer.prepared(tmp_path):
        assert fuzzer.check(IndexCase("sketches", "optimize", after_calls=20)) == "old"
        monkeypatch.setattr("tests.fuzz.index.vacuum", greedy)
        assert try_case(fuzzer, IndexCase("sketches", "optimize", after_calls=20))[1] is not None


def test_a_fault_in_the_log_of_the_sidecar_and_its_end_are_found(tmp_path: Path) -> None:
    sidecar = FuzzedSidecar(tmp_path)
    try:
        sidecar.check()
        with (tmp_path / "log").open("a") as log:
            log.write('{"event": "failure", "level": "error", "error": "IndexError"}\n')
        with pytest.raises(Fault, match=r"undocumented exception.*IndexError"):
            sidecar.check()
        with pytest.raises(Fault, match="ended with -9"):
            sidecar.check()
    finally:
        sidecar.stop()


@pytest.mark.parametrize("name", ["kryo", "sql", "catalyst"])
def test_a_seed_draws_the_same_cases_again(name: str) -> None:
    fuzzer = named(name)
    drawn = [[fuzzer.dump(fuzzer.draw(random.Random(f"1 {number}"))) for number in range(30)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 25
    assert [fuzzer.dump(fuzzer.load(data)) for data in drawn[0]] == drawn[0]
