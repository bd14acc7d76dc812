"""A file of arrays gives back what was written, and refuses what is damaged, forged or of another form."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.language.arrow_arrays import to_binary
from evaluator.statistics.packed_numbers import PackedNumbers
from evaluator.statistics.packed_texts import PackedDecimals, PackedTexts
from evaluator.statistics.packing import pack_decimals, pack_numbers, pack_texts
from index_store.snapshots import arrays_file
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.private_folder import PrivateFile, PrivateFolder
from tests.sampling import examples

ABOUT = {"what": "a test"}
N = 300
LOWER = pack_numbers(np.random.default_rng(1).integers(0, 1 << 40, N))
NAMES = pack_texts(to_binary([b"shop-%07d" % (i * i % 997) for i in range(N)]))
IDS = [f"{i:08x}-0000-4000-8000-{i:012x}-{i % 3}_{i}.parquet".encode() for i in range(N)]
WIDE = pack_decimals(pa.array([10**20 + i for i in range(N)], pa.decimal128(38, 0)))
ARRAYS: dict[str, Any] = {
    "numbers": np.arange(N, dtype=np.int32),
    "doubles": np.array([0.0, -0.0, np.nan, np.inf]),
    "keys": np.array([b"a", b"b" * 24], "S24"),
    "flags": np.arange(N) % 3 == 0,
    "nothing": np.zeros(0, np.int64),
    "same": pack_numbers(np.full(N, -1)),
    "same double": pack_numbers(np.full(N, -0.0)),
    "line": pack_numbers(np.arange(N) * 7 - 3),
    "lower": LOWER,
    "upper": pack_numbers(np.asarray(LOWER) + np.arange(N) % 5, LOWER),
    "lower again": LOWER,
    "table": pack_numbers(np.array([1.5, np.nan, -2.5])[np.arange(N) % 3]),
    "few texts": pack_texts(to_binary([(b"DE", b"", b"FR")[i % 3] for i in range(N)])),
    "texts": to_binary([f"{'é' * (i % 7)}".encode() for i in range(N)]),
    "no texts": to_binary([]),
    "names": NAMES,
    "upper names": pack_texts(to_binary([b"shop-%07d" % (i * i % 997 + 5) for i in range(N)]), NAMES),
    "file ids": pack_texts(to_binary(IDS)),
    "wide": WIDE,
    "upper wide": pack_decimals(pa.array([10**20 + i + 9 for i in range(N)], pa.decimal128(38, 0)), WIDE),
}


def plain(array: Any) -> Any:
    if isinstance(array, PackedTexts | PackedDecimals):
        return array.arrow().to_pylist()
    if isinstance(array, pa.Array):
        return array.to_pylist()
    array = np.asarray(array)
    return array.dtype.kind.replace("b", "u"), array.tobytes()


@pytest.fixture
def file(tmp_path: Path) -> PrivateFile:
    return (PrivateFolder(tmp_path) / "a").file("b.arrays")


def test_every_form_is_read_as_it_was_written(file: PrivateFile) -> None:
    write_arrays(file, ARRAYS, ABOUT)
    found = ArraysFile.open(file, ABOUT)
    assert sorted(found.names) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert plain(found.get(name)) == plain(array), name
    assert found.get("lower again") is found.get("lower")
    assert found.get("upper").beside is found.get("lower")
    assert found.get("same").strides == (0,)
    rows = np.array([5, 0, N - 1])
    for name in ("line", "upper", "table"):
        assert found.array(name)[rows].tobytes() == np.asarray(ARRAYS[name])[rows].tobytes()
    assert [bytes(one) for one in found.texts("file ids").at(rows)] == [IDS[row] for row in rows]
    forms = {form[0] for form in json.loads(header(file)[0])["arrays"].values()}
    assert forms == {"numbers", "same", "packed", "table", "texts", "decimals", "like"}
    with pytest.raises(UnusableError, match="no numbers"):
        found.array("texts")
    with pytest.raises(UnusableError, match="no texts"):
        found.texts("lower")
    with pytest.raises(UnusableError):
        found.get("another")


def test_equal_files_have_equal_digests(file: PrivateFile) -> None:
    digests = []
    for arrays in ({"x": np.arange(5)}, {"x": np.arange(5)}, {"x": np.arange(6)}):
        write_arrays(file, arrays, ABOUT)
        digests.append(ArraysFile.open(file, {}).digest)
    assert digests[0] == digests[1] != digests[2]
    with pytest.raises(UnusableError, match="something else"):
        ArraysFile.open(file, {"what": "another"})


@pytest.mark.parametrize(
    "array", [np.array([1, "a"], object), [1], pa.array([b"a", None], pa.large_binary())], ids=type
)
def test_other_arrays_are_not_written(file: PrivateFile, array: Any) -> None:
    with pytest.raises(ValueError, match="not stored"):
        write_arrays(file, {"x": array}, ABOUT)


def test_numbers_beside_others_that_are_not_in_the_file_are_not_written(file: PrivateFile) -> None:
    with pytest.raises(ValueError, match="beside"):
        write_arrays(file, {"upper": ARRAYS["upper"]}, ABOUT)


# -- damage


def read_all(file: PrivateFile) -> None:
    """Use all arrays as a reader would. Raises UnusableError, or what numpy and Python raise for rows out of range."""
    found = ArraysFile.open(file, ABOUT)
    for name in found.names:
        plain(found.get(name))


@settings(max_examples=examples(117, at_night=10_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_bit_or_a_lost_end_is_found(tmp_path: Path, data: st.DataObject) -> None:
    file = (PrivateFolder(tmp_path) / "a").file("b.arrays")
    write_arrays(file, ARRAYS, ABOUT)
    path = Path(str(file))
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    replaced(path, bytes(content))
    with pytest.raises(UnusableError):
        ArraysFile.open(file, ABOUT)


def test_a_file_in_the_form_of_an_older_release_is_refused(file: PrivateFile) -> None:
    write_arrays(file, ARRAYS, ABOUT)
    batch = pa.record_batch({"x": pa.array([1])})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    replaced(Path(str(file)), sink.getvalue().to_pybytes())
    with pytest.raises(UnusableError, match="format"):
        ArraysFile.open(file, ABOUT)


def header(file: PrivateFile) -> tuple[bytes, bytes]:
    content = Path(str(file)).read_bytes()
    length = int.from_bytes(content[24:28], "little")
    start = -(-(28 + length) // 64) * 64
    return content[28 : 28 + length], content[start:]


def replaced(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)
    path.chmod(0o600)


def forged(file: PrivateFile, forms: Any) -> None:
    """A file with a right digest whose header has other forms of the same bytes."""
    write_arrays(file, ARRAYS, ABOUT)
    text, chunks = header(file)
    changed = json.dumps({**json.loads(text), "arrays": forms}).encode()
    rest = len(changed).to_bytes(4, "little") + changed + bytes(-(28 + len(changed)) % 64) + chunks
    replaced(Path(str(file)), b"SARGOARR" + xxhash.xxh3_128_digest(rest) + rest)


HUGE = 10**15
NUMBERS, BYTES = ["numbers", "<i8", 0, 2], ["numbers", "|u1", 0, 32]
FORGED: dict[str, Any] = {
    "too long": ["numbers", "<i8", 0, HUGE],
    "longer than the file": ["numbers", "<i8", 0, 1 << 30],
    "before the file": ["numbers", "<i8", -8, 1],
    "behind the file": ["numbers", "<i8", HUGE, 1],
    "less than nothing": ["numbers", "<i8", 0, -1],
    "objects": ["numbers", "|O", 0, 1],
    "void": ["numbers", "|V8", 0, 1],
    "big-endian": ["numbers", ">i8", 0, 1],
    "wide strings": ["numbers", "|S100", 0, 1],
    "no number": ["numbers", "<i8", "0", "x"],
    "same, too long": ["same", "<i8", 0, HUGE],
    "same, too large": ["same", "<i8", 1 << 70, 3],
    "packed, too long": ["packed", "<i8", HUGE, 0, 0, 1, None, []],
    "packed, of another length": ["packed", "<i8", 3, 0, 0, 1, None, [BYTES]],
    "packed, signed": ["packed", "<i8", 2, 0, 0, 1, None, [NUMBERS]],
    "packed, planes of planes": ["packed", "<i8", 2, 0, 0, 1, None, [["same", "|u1", 0, 2]]],
    "packed beside itself": ["packed", "<i8", 2, 0, 0, 1, "x", []],
    "packed beside nothing": ["packed", "<i8", 2, 0, 0, 1, "y", []],
    "packed beside a part of numbers": ["packed", "<i8", 2, 0, 0, 1, ["x", 0], []],
    "table of another type": ["table", "<f8", BYTES, NUMBERS],
    "texts of another length": ["texts", 3, [["identifier", BYTES]]],
    "texts of half an identifier": ["texts", 1, [["identifier", ["numbers", "|u1", 0, 31]]]],
    "texts, too long": ["texts", HUGE, [["constant", "61"]]],
    "texts of nothing": ["texts", 3, []],
    "texts beyond their bytes": ["texts", 1, [["plain", NUMBERS, ["numbers", "|u1", 0, 0]]]],
    "texts of no offsets": ["texts", -1, [["plain", ["numbers", "<i8", 0, 0], BYTES]]],
    "a part unknown": ["texts", 1, [["other", 1]]],
    "constant of no bytes": ["texts", 1, [["constant", "zz"]]],
    "decimals of no width": ["decimals", 64, 38, [NUMBERS]],
    "decimals of one word": ["decimals", 128, 38, [NUMBERS]],
    "decimals of words of another length": ["decimals", 128, 38, [NUMBERS, ["numbers", "<i8", 0, 1]]],
    "like itself": ["like", "x"],
    "unknown": ["other"],
    "empty": [],
    "no list": 5,
    "deep": json.loads("[" * 900 + "]" * 900),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_form_is_refused_before_its_size_is_allocated(file: PrivateFile, name: str) -> None:
    forged(file, {"x": FORGED[name]})
    found = ArraysFile.open(file, ABOUT)
    tracemalloc.start()
    try:
        with pytest.raises(UnusableError):
            found.get("x")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("forms", [None, 5, [], "x"])
def test_a_header_without_forms_is_refused(file: PrivateFile, forms: Any) -> None:
    forged(file, forms)
    with pytest.raises(UnusableError):
        ArraysFile.open(file, ABOUT).get("x")


def test_a_header_longer_than_the_file_is_refused(file: PrivateFile) -> None:
    write_arrays(file, ARRAYS, ABOUT)
    rest = (0xFFFF_FFFF).to_bytes(4, "little") + b"{}"
    replaced(Path(str(file)), b"SARGOARR" + xxhash.xxh3_128_digest(rest) + rest)
    with pytest.raises(UnusableError):
        ArraysFile.open(file, ABOUT)


def test_the_digest_of_a_large_file_is_compared_once(file: PrivateFile, monkeypatch: pytest.MonkeyPatch) -> None:
    large: npt.NDArray[Any] = np.arange(1 << 18)
    write_arrays(file, {"x": large}, ABOUT)
    monkeypatch.setattr(arrays_file, "_verified", set())
    monkeypatch.setattr(xxhash, "xxh3_128_digest", None)  # whoever calls it fails
    found = ArraysFile.open(file, ABOUT)
    assert np.array_equal(found.array("x"), large)
    assert not isinstance(found.array("x"), PackedNumbers)
    replaced(Path(str(file)), Path(str(file)).read_bytes())
    with pytest.raises(UnusableError, match="not callable"):
        ArraysFile.open(file, ABOUT)
