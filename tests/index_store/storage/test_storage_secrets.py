"""Credentials never reach what people see: texts, errors, tracebacks, reprs, plans and JSON."""

from __future__ import annotations

import json
import logging
import traceback
from urllib.parse import quote

import pytest

from handler import prune
from handler.views.json_text import json_text
from index_store import TableError, open_table
from index_store.opened_table import OpenTable
from index_store.storage.file_systems import locate
from index_store.storage.masking import Mask, is_secret, masked_uri, plain_uri
from index_store.storage.storage import Storage
from index_store.storage.storage_options import AzureOptions, GcsOptions, HdfsOptions, S3Options
from tests.index_store.recording_store import RecordingStore

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"

MASKED = [
    ("s3://AKIAKEY:sec/ret@bucket/t", "s3://***@bucket/t", "s3://bucket/t"),
    ("s3a://KEY:SEC%2FRET@bucket/t/x@y", "s3a://***@bucket/t/x@y", "s3a://bucket/t/x@y"),
    ("s3://onlykey@bucket/t", "s3://***@bucket/t", "s3://bucket/t"),
    (
        "s3://bucket/t?access_key=A&secret_key=B&region=eu-west-1",
        "s3://bucket/t?access_key=***&secret_key=***&region=eu-west-1",
        "s3://bucket/t",
    ),
    ("s3://bucket/t?endpoint_override=http://u:p@h", "s3://bucket/t?endpoint_override=***", "s3://bucket/t"),
    ("s3://bucket/t?whatever=B", "s3://bucket/t?whatever=***", "s3://bucket/t"),
    (
        "abfss://lake@account.dfs.core.windows.net/t",
        "abfss://lake@account.dfs.core.windows.net/t",
        "abfss://lake@account.dfs.core.windows.net/t",
    ),
    (
        "abfs://lake:KEY@account.dfs.core.windows.net/t",
        "abfs://lake:***@account.dfs.core.windows.net/t",
        "abfs://lake@account.dfs.core.windows.net/t",
    ),
    (
        "wasbs://lake@a.blob.core.windows.net/t?sig=S&sv=1",
        "wasbs://lake@a.blob.core.windows.net/t?sig=***&sv=***",
        "wasbs://lake@a.blob.core.windows.net/t",
    ),
    ("hdfs://ann:pw@nn:8020/t", "hdfs://ann:***@nn:8020/t", "hdfs://ann@nn:8020/t"),
    ("hdfs://nn:8020/t/a@b", "hdfs://nn:8020/t/a@b", "hdfs://nn:8020/t/a@b"),
    ("gs://bucket/t", "gs://bucket/t", "gs://bucket/t"),
    ("https://user:pw@host/t?token=abc", "https://***@host/t?token=***", "https://host/t"),
    ("/data/a@b?c=d", "/data/a@b?c=d", "/data/a@b?c=d"),
    ("file:/data/t", "file:/data/t", "file:/data/t"),
]


@pytest.mark.parametrize(("uri", "masked", "plain"), MASKED)
def test_uris_are_masked(uri, masked, plain):
    assert masked_uri(uri) == masked
    assert plain_uri(uri) == plain
    assert Mask()(f"cannot open '{uri}' now") == f"cannot open '{masked}' now"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"key {SECRET} is wrong", "key *** is wrong"),
        ("key wJalrXUtnFEMI%2FK7MDENG%2BbPxRfiCY is wrong", "key *** is wrong"),
        ("AWSAccessKeyId: AKIAIOSFODNN7EXAMPLE", "AWSAccessKeyId: ***"),
        ("The key AKIAIOSFODNN7EXAMPLE does not exist", "The key *** does not exist"),
        ("X-Amz-Signature=abc123&X-Amz-Date=1", "X-Amz-Signature=***&X-Amz-Date=1"),
        ("secret_key='abc', region='x'", "secret_key='***', region='x'"),
        ("sig=abc%3D&se=2026", "sig=***&se=2026"),
        ("Authorization: Bearer ya29.abc", "Authorization: Bearer ***"),
        ("SharedKey account:abc=", "SharedKey ***"),
        ("AccountKey=abc==;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"),
        (
            "When reading key 'a/b.parquet' in bucket 'c': timeout",
            "When reading key 'a/b.parquet' in bucket 'c': timeout",
        ),
        ("12 tokens are left", "12 tokens are left"),
    ],
)
def test_texts_are_masked(text, masked):
    assert Mask([SECRET, "a"])(text) == masked


@pytest.mark.parametrize(
    "name",
    [
        "secret_key",
        "fs.s3a.secret.key",
        "AWS_SECRET_ACCESS_KEY",
        "aws_session_token",
        "access_key",
        "account_key",
        "fs.azure.account.key.acc.dfs.core.windows.net",
        "sas_token",
        "client_secret",
        "password",
        "sig",
        "key",
        "pwd",
        "AZURE_STORAGE_SAS",
        "x-auth",
    ],
)
def test_names_that_tell_of_a_secret(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", ["region", "endpoint", "anonymous", "user", "project_id", "account_name", "tries"])
def test_names_that_do_not(name):
    assert not is_secret(name)


def test_secrets_of_the_environment_are_masked_and_paths_are_not():
    mask = Mask.of(
        {"region": "eu-west-1"},
        {
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AZURE_STORAGE_KEY": "azurekey==",
            "GOOGLE_APPLICATION_CREDENTIALS": "/etc/key.json",
            "HOME": "homehome",
        },
    )
    assert mask(f"{SECRET} azurekey== /etc/key.json homehome eu-west-1") == "*** *** /etc/key.json homehome eu-west-1"
    assert repr(mask) == f"Mask({len(mask._values)} secrets)"


def everything_of(error):
    return "".join(traceback.format_exception(error)) + str(error) + repr(error) + str(error.__dict__)


@pytest.mark.parametrize(
    "uri",
    [
        f"s3://KEY:{SECRET}@bucket/t?nonsense=1",
        f"gopher://me:{SECRET}@host/t",
        f"s3://:{SECRET}@/t",
        f"s3://bucket/t?region=eu-west-1&secret_key={SECRET}",
        f"abfs://c:{SECRET}@/t",
        f"hdfs://ann:{SECRET}@nn:port/t",
        f"oss://bucket/t?token={SECRET}",
    ],
)
def test_an_error_about_a_uri_does_not_show_its_secrets(uri):
    with pytest.raises(TableError) as caught:
        locate(uri)
    for piece in (SECRET, SECRET.replace("/", "%2F"), "K7MDENG"):
        assert piece not in everything_of(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"secret_kye": SECRET},
        {"secret_key": SECRET, "region": "eu-west-1"},
        {"anonymous": SECRET},
        {"connect_timeout": SECRET},
        {"tries": SECRET},
    ],
)
def test_an_error_about_an_option_does_not_show_its_value(options):
    with pytest.raises(TableError) as caught:
        locate("s3://bucket/t", options=options)
    assert SECRET not in everything_of(caught.value)


def test_an_error_while_reading_does_not_show_secrets_even_in_its_traceback(tmp_path):
    (tmp_path / "f").write_bytes(b"x")

    def fail(call):
        if call.what == "open":
            raise OSError(f"GET https://host/f?X-Amz-Signature=abcdef with secret {SECRET} failed")

    location = locate(tmp_path, RecordingStore(fail).filesystem)
    from dataclasses import replace

    storage = Storage(location.name, replace(location, mask=Mask([SECRET])), location.root, Storage.at(tmp_path)._known)
    with pytest.raises(TableError, match=r"X-Amz-Signature=\*\*\*") as caught:
        storage.read("f")
    assert SECRET not in everything_of(caught.value)
    assert "abcdef" not in everything_of(caught.value)


def test_reprs_show_no_options():
    for options in (
        S3Options(secret_key=SECRET),
        GcsOptions(access_token=SECRET),
        AzureOptions(account_key=SECRET),
        HdfsOptions(kerberos_ticket=SECRET),
    ):
        assert SECRET not in repr(options)
    location = locate(f"s3://KEY:{quote(SECRET, safe='')}@bucket/t", options={"endpoint": "http://localhost:1"})
    assert SECRET not in repr(location)
    assert location.name == "s3://bucket/t"


def test_plans_reports_and_logs_show_no_secrets(hudi_table, caplog, monkeypatch):
    path = hudi_table("1.1.1_nan_cow")

    class Renamed(RecordingStore):
        """Serves the table as if it lay in a bucket."""

    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    uri = f"store://KEY:{SECRET}@host{path}?token={SECRET}"
    filesystem = Renamed().filesystem
    location = locate(str(path), filesystem)
    from dataclasses import replace

    name = locate(uri, filesystem).name
    assert name == f"store://host{path}"
    table = open_table(path, filesystem=filesystem)
    table.storage = Storage(name, replace(location, name=name), location.root, table.storage._known)
    table.path = name
    opened = OpenTable(table)
    plan = prune(opened, "f > 5 AND nonsense(f) = 1")
    from handler.inspection.table_report import report_table

    shown = "".join(
        (
            json_text(plan.to_dict()),
            repr(plan),
            repr(opened),
            repr(table),
            repr(table.storage),
            json_text(report_table(opened).to_dict()),
            caplog.text,
            json.dumps([reason.text for reason in plan.reasons]),
        )
    )
    assert f"store://host{path}" in shown
    assert SECRET not in shown
