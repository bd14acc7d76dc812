"""Lists of names from hostile clients: they are refused before they cost memory or time."""

import random
import subprocess
import sys
import threading
import tracemalloc
import zlib
from contextlib import contextmanager

import pytest

from handler.sidecar import names as names_module
from handler.sidecar.idl import Refused
from handler.sidecar.names import MAX_NAME_BYTES, ListedNames

MEBIBYTE = 1 << 20
MAX_BYTES = 256 * MEBIBYTE


@contextmanager
def peak_below(limit):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


def hudi_names(count, seed=0):
    """Names as Hudi makes them: a UUID, a write token and an instant, below a few partitions."""
    rng = random.Random(seed)
    return [
        f"dt=2026-11-{i * 30 // count + 1:02d}/{rng.getrandbits(128):032x}-0_{i % 40}-{i}-0_2026112102462.parquet"
        for i in range(count)
    ]


@pytest.mark.parametrize("count", [1, 2_000_000], ids=str)
@pytest.mark.parametrize(
    "content", [b"\n", b"a\n", b"\0", b"dt=1/" + b"a" * 90 + b"\n"], ids=["feeds", "short", "one", "same"]
)
def test_a_small_stream_that_inflates_to_much_is_refused_without_the_memory(content, count):
    bomb = zlib.compress(content * (96 * MEBIBYTE // len(content)), 9)
    assert len(bomb) < MEBIBYTE
    listed = ListedNames(bomb, True, count, MAX_BYTES)
    with peak_below(48 * MEBIBYTE), pytest.raises(Refused) as refused:
        listed.ends  # noqa: B018
    assert refused.value.code in ("limit", "request")


def test_more_line_feeds_than_announced_names_are_refused_before_their_places_are_kept():
    feeds = b"\n" * (24 * MEBIBYTE)
    with peak_below(8 * MEBIBYTE), pytest.raises(Refused, match="3 names were announced"):
        ListedNames(feeds, False, 3, MAX_BYTES).ends  # noqa: B018


@pytest.mark.parametrize("compressed", [False, True])
def test_a_name_longer_than_any_path_is_refused(compressed):
    text = b"a\n" + random.Random(0).randbytes(MAX_NAME_BYTES + 1).replace(b"\n", b"x") + b"\nb"
    listed = ListedNames(zlib.compress(text) if compressed else text, compressed, 3, MAX_BYTES)
    with pytest.raises(Refused, match="bytes"):
        listed.ends  # noqa: B018


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("count", [1, 2, 1_000, 50_000], ids=str)
def test_lists_as_hudi_makes_them_are_read(count, level):
    names = hudi_names(count)
    text = "\n".join(names).encode()
    for blob, compressed in ((text, False), (zlib.compress(text, level), True)):
        listed = ListedNames(blob, compressed, count, MAX_BYTES)
        assert bytes(listed.text) == text
        assert listed.at(range(count)) == [name.encode() for name in names]


def test_very_regular_names_are_read_when_the_list_is_not_large():
    names = [f"f{i:06d}.parquet" for i in range(20_000)]
    text = "\n".join(names).encode()
    listed = ListedNames(zlib.compress(text, 9), True, len(names), MAX_BYTES)
    assert listed.at([0, 19_999]) == [b"f000000.parquet", b"f019999.parquet"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda stream: stream[:-1], "whole"),
        (lambda stream: stream + b"x", "whole"),
        (lambda stream: stream + stream, "whole"),
        (lambda _: b"", "whole"),
        (lambda stream: b"x" + stream, "decompressed"),
        (lambda stream: stream[:2000] + bytes([stream[2000] ^ 0x55]) + stream[2001:], "decompressed|announced|whole"),
    ],
)
def test_a_stream_that_is_cut_or_goes_on_is_refused(change, why):
    names = hudi_names(3_000)
    stream = zlib.compress("\n".join(names).encode())
    with pytest.raises(Refused, match=why):
        ListedNames(change(stream), True, len(names), MAX_BYTES).ends  # noqa: B018


def test_random_streams_are_refused_or_are_the_list():
    names = hudi_names(200)
    text = "\n".join(names).encode()
    stream = zlib.compress(text)
    rng = random.Random(16)
    for _ in range(2_000):
        broken = bytearray(stream)
        for _ in range(rng.randint(1, 3)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        listed = ListedNames(bytes(broken[: rng.choice((len(broken), rng.randrange(len(broken))))]), True, 200, 1 << 20)
        try:
            assert len(listed.ends) == 200
        except Refused:
            continue
        assert bytes(listed.text) == text


def test_a_long_list_on_a_thread_does_not_hold_up_other_lists(monkeypatch):
    begun, gate = threading.Event(), threading.Event()
    crc32 = zlib.crc32

    def slow(blob):
        if blob == b"long":
            begun.set()
            assert gate.wait(30)
        return crc32(blob)

    monkeypatch.setattr(names_module.zlib, "crc32", slow)
    thread = threading.Thread(target=lambda: ListedNames(b"long", False, 1, 10).digest)
    thread.start()
    try:
        assert begun.wait(30)
        other = threading.Thread(target=lambda: ListedNames(b"short", False, 1, 10).digest)
        other.start()
        other.join(20)
        assert not other.is_alive()
    finally:
        gate.set()
        thread.join()


def test_the_first_answers_of_a_sidecar_convert_arrays_without_pandas(unpack):
    """Importing it takes as long as all of the answer."""
    code = (
        "import sys; from handler.sidecar.listed_files import ListedFiles\n"
        "from handler.sidecar.names import FileNames, ListedNames\n"
        "from handler.sidecar.request_matching import ViewFiles\n"
        "from index_store import open_table\n"
        "names = [f'p/{n}' for n in range(6000)]\n"
        "listed = ListedNames('\\n'.join(names).encode(), False, 6000, 1 << 20)\n"
        "assert FileNames(names).indices(listed).tolist() == list(range(6000))\n"
        "table = open_table(sys.argv[1]); files = ViewFiles.of(table.slices())\n"
        "assert len(ListedFiles.of(files, table).lengths) == len(files.names)\n"
        "assert 'pandas' not in sys.modules"
    )
    command = [sys.executable, "-c", code, str(unpack("1.1.1_main_mor"))]
    subprocess.run(command, check=True, timeout=120)
