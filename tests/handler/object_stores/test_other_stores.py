"""A table in emulators of Azure's and Google's stores, Azurite and fake-gcs-server; skipped where they are not.

    npm install azurite                                         azurite-blob on the PATH
    go install github.com/fsouza/fake-gcs-server@latest         fake-gcs-server on the PATH

One that runs already is used: SARGO_TEST_AZURE=http://127.0.0.1:10000, SARGO_TEST_GCS=http://127.0.0.1:4443.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from pyarrow import fs

from handler import open_table, prune
from index_store import TableError
from index_store.own.store.folder import Folder

#: The account of Azure's emulator, which is public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
NAME = "1.1.1_main_mor"
FILTERS = ("i BETWEEN 1 AND 5", "s LIKE 'a%'", "id = 'k0003'", "p = 'p1' AND f > 3", "dt < DATE'2019-01-01'")


@contextmanager
def running(variable, command, *arguments):
    """The URL of an emulator, started if need be. The argument PORT stands for a free one."""
    if os.environ.get(variable):
        yield os.environ[variable]
        return
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not on the PATH, and {variable} names no emulator")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [command, *(one.replace("PORT", str(port)) for one in arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def azure():
    arguments = ("--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--blobPort", "PORT")
    with running("SARGO_TEST_AZURE", "azurite-blob", *arguments) as url:
        yield url


@pytest.fixture(scope="module")
def gcs():
    named = ("-public-host", "127.0.0.1:PORT")  # without it, nothing is served at the paths of the XML interface
    arguments = ("-scheme", "http", "-backend", "memory", "-port", "PORT", *named)
    with running("SARGO_TEST_GCS", "fake-gcs-server", *arguments) as url:
        yield url


@pytest.fixture(scope="module")
def in_azure(azure, unpack):
    """The table is in the container "lake"."""
    place = urlsplit(azure)
    client = fs.AzureFileSystem(
        ACCOUNT,
        account_key=KEY,
        blob_storage_authority=place.netloc,
        dfs_storage_authority=place.netloc,
        blob_storage_scheme=place.scheme,
        dfs_storage_scheme=place.scheme,
    )
    client.create_dir("lake")
    fs.copy_files(str(unpack(NAME)), f"lake/{NAME}", destination_filesystem=client)
    return {"endpoint": azure, "account_key": KEY}


@pytest.fixture(scope="module")
def in_gcs(gcs, unpack):
    """The table is in the bucket "lake"."""
    place = urlsplit(gcs)
    client = fs.GcsFileSystem(anonymous=True, scheme=place.scheme, endpoint_override=place.netloc, project_id="p")
    client.create_dir("lake")
    fs.copy_files(str(unpack(NAME)), f"lake/{NAME}", destination_filesystem=client)
    return {"endpoint": gcs}


def is_the_same(remote, local):
    assert remote.table.slices() == local.table.slices()
    assert remote.table.listing.source == "metadata table"
    for partition in local.table.partitions():
        assert list(remote.table.files(partition)) == list(local.table.files(partition))
    for text in FILTERS:
        assert prune(remote, text, time_zone="UTC").kept == prune(local, text, time_zone="UTC").kept


@pytest.mark.parametrize(
    ("uri", "more"),
    [
        (f"abfss://lake@{ACCOUNT}.dfs.core.windows.net/{NAME}", {}),
        (f"wasbs://lake@{ACCOUNT}.blob.core.windows.net/{NAME}", {}),
        (f"az://lake/{NAME}", {"account_name": ACCOUNT}),
    ],
)
def test_a_table_in_azure(in_azure, unpack, uri, more):
    remote = open_table(uri, storage_options={**in_azure, **more})
    assert remote.path == uri
    is_the_same(remote, open_table(unpack(NAME)))


def test_a_wrong_key_is_refused_by_azure(in_azure):
    wrong = "d3Jvbmdrb2V5d3Jvbmc="
    with pytest.raises(TableError, match="access is denied, check the credentials") as caught:
        open_table(f"az://lake/{NAME}", storage_options={**in_azure, "account_name": ACCOUNT, "account_key": wrong})
    assert wrong not in str(caught.value)


def test_a_table_in_gcs(in_gcs, unpack):
    is_the_same(open_table(f"gs://lake/{NAME}", storage_options=in_gcs), open_table(unpack(NAME)))


def test_a_folder_of_an_index_in_azure(in_azure, tmp_path):
    """What is new replaces nothing, a listed file is read by ranges of its version, and removing needs no luck."""
    options = {**in_azure, "account_name": ACCOUNT}
    index = Folder.at("az://lake/index", None, options)
    for size, name in ((2, "small"), (6 << 20, "large")):
        (tmp_path / "new").write_bytes(b"1" * size)
        client, path = index.storage.client, f"lake/index/{name}"
        client.write(path, tmp_path / "new", new=True)
        (tmp_path / "new").write_bytes(b"2" * size)
        client.write(path, tmp_path / "new", new=True)
        assert client.whole(path, size).data == b"1" * size
    [listed] = [one for one in client.listed("lake/index") if one.path == path]
    with client.open(path, listed) as file:
        assert file.read_at(1, 1) == b"1"
        client.write(path, tmp_path / "new")
        with pytest.raises(OSError, match="it changed while it was read"):
            file.read_at(1, 3 << 20)
    index.remove("small")
    index.remove("small")
    client.remove_all("lake/index")
    assert client.listed("lake/index", recursive=True) == []


def test_a_container_or_bucket_that_is_not_there(in_azure, in_gcs):
    with pytest.raises(TableError, match="there is no container nolake"):
        open_table("az://nolake/t", storage_options={**in_azure, "account_name": ACCOUNT})
    with pytest.raises(TableError, match="not a Hudi table"):  # fake-gcs-server says only that there is no object
        open_table("gs://nolake/t", storage_options=in_gcs)
