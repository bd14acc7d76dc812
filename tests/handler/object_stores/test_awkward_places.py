"""Tables and partitions with a space, %, #, ? and the like in their names: on disks, in a bucket, by the command line.

The table places has a file of 10 rows for each of 12 names of partitions, as real Hudi wrote it.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from handler import open_table, prune
from index_store import TableError
from tests.handler.commands import document
from tests.index_store.object_store import running

PLACES = Path(__file__).parents[2] / "hive" / "data" / "places.zip"
NAMES = ["a b", "a%b", "a%20b", "a#b", "a?b", "a+b", "a&b", "a=b", "a'b", 'a"b', "aäö€b", "a{b}"]
LOCATIONS = ["a b%20c#d'\"*", "a?b+c&d=eäö€{f,g}"]


def of_partition(name: str) -> str:
    text = name.replace("'", "\\'")
    return f"dt = '{text}'"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places") / "places"
    with zipfile.ZipFile(PLACES) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def store():
    with running() as server:
        yield server


def kept(table, condition: str) -> list[str]:
    return [item.partition for item in prune(table, condition).kept]


def test_each_awkward_partition_is_found_by_its_value_and_by_its_statistics(places):
    """Spark's reader resolves escapes in paths. In Hive the metastore has the value, so what may be one is kept."""
    table = open_table(places)
    assert {item.partition for item in table.at().slices} == {f"dt={name}" for name in NAMES}
    for number, name in enumerate(NAMES):
        assert set(kept(table, of_partition(name))) == {f"dt={one}" for one in NAMES if unquote(one) == name}
        in_hive = {item.partition for item in prune(table, of_partition(name), "hive4").kept}
        assert in_hive == {f"dt={name}", "dt=a%b", "dt=a%20b"}
        assert kept(table, f"k = {10 * number + 3}") == [f"dt={name}"]


@pytest.mark.parametrize("name", LOCATIONS)
def test_a_table_at_an_awkward_location_is_found_on_disk_and_no_other(places, tmp_path, name):
    """Empty folders stand where the name would lead if it were decoded, or encoded once more."""
    table = tmp_path / name
    shutil.copytree(places, table)
    for other in {unquote(name), quote(name), name.partition("?")[0], name.partition("#")[0]} - {name}:
        (tmp_path / other).mkdir()
    for location in (table, f"file:{table}", f"file://{table}"):
        assert kept(open_table(location), "k = 23") == ["dt=a%20b"]
    assert document("prune", f"file://{table}", "--where", "k = 23")["kept"][0]["partition"] == "dt=a%20b"
    with pytest.raises(TableError):
        open_table(tmp_path / quote(name + "%"))


@pytest.mark.parametrize("name", LOCATIONS)
def test_a_table_at_an_awkward_key_is_found_in_a_bucket_and_no_other(store, places, name):
    uri = store.put(places, f"w/{name}")
    table = open_table(uri, storage_options=store.options)
    assert kept(table, "k = 23") == ["dt=a%20b"]
    assert table.path == uri
    for other in (unquote(name), quote(name), name.partition("?")[0]):
        if other != name:
            with pytest.raises(TableError):
                open_table(f"s3a://lake/w/{other}", storage_options=store.options)
