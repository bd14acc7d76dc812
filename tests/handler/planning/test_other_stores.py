"""A table in Azure's and Google's stores, against emulators that somebody has started; skipped without.

azurite-blob --blobPort 10055 --skipApiVersionCheck     SARGO_TEST_AZURE=http://127.0.0.1:10055
fake-gcs-server -scheme http -port 4443                 SARGO_TEST_GCS=http://127.0.0.1:4443
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pytest
from pyarrow import fs

from handler import open_table, prune
from index_store import TableError

AZURE, GCS = os.environ.get("SARGO_TEST_AZURE", ""), os.environ.get("SARGO_TEST_GCS", "")
#: The account of Azure's emulator, which is public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
NAME = "1.1.1_main_mor"
FILTERS = ("i BETWEEN 1 AND 5", "s LIKE 'a%'", "id = 'k0003'", "p = 'p1' AND f > 3", "dt < DATE'2019-01-01'")


@pytest.fixture(scope="module")
def in_azure(unpack):
    """The table is in the container "lake"."""
    place = urlsplit(AZURE)
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
    return {"endpoint": AZURE, "account_key": KEY}


@pytest.fixture(scope="module")
def in_gcs(unpack):
    """The table is in the bucket "lake"."""
    place = urlsplit(GCS)
    client = fs.GcsFileSystem(anonymous=True, scheme=place.scheme, endpoint_override=place.netloc, project_id="p")
    client.create_dir("lake")
    fs.copy_files(str(unpack(NAME)), f"lake/{NAME}", destination_filesystem=client)
    return {"endpoint": GCS}


def is_the_same(remote, local):
    assert remote.table.slices() == local.table.slices()
    assert remote.table.listing.source == "metadata table"
    for partition in local.table.partitions():
        assert list(remote.table.files(partition)) == list(local.table.files(partition))
    for text in FILTERS:
        assert prune(remote, text, time_zone="UTC").kept == prune(local, text, time_zone="UTC").kept


@pytest.mark.skipif(not AZURE, reason="SARGO_TEST_AZURE names no emulator")
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


@pytest.mark.skipif(not AZURE, reason="SARGO_TEST_AZURE names no emulator")
def test_a_wrong_key_is_refused_by_azure(in_azure):
    wrong = "d3Jvbmdrb2V5d3Jvbmc="
    with pytest.raises(TableError, match="access is denied, check the credentials") as caught:
        open_table(f"az://lake/{NAME}", storage_options={**in_azure, "account_name": ACCOUNT, "account_key": wrong})
    assert wrong not in str(caught.value)


@pytest.mark.skipif(not GCS, reason="SARGO_TEST_GCS names no emulator")
def test_a_table_in_gcs(in_gcs, unpack):
    is_the_same(open_table(f"gs://lake/{NAME}", storage_options=in_gcs), open_table(unpack(NAME)))
