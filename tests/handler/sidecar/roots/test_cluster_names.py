"""One cluster under its names is one place, and two clusters are never taken for one."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.sidecar.idl import Refused
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.roots.cluster_names import ClusterNames
from handler.sidecar.settings import Settings, SettingsError, load_settings
from index_store.storage.hadoop_configuration import configuration_folder, hadoop_properties

LAKE = {
    "fs.defaultFS": "hdfs://lake",
    "dfs.nameservices": "lake, Sea",
    "dfs.ha.namenodes.lake": "nn1,nn2",
    "dfs.namenode.rpc-address.lake.nn1": "one.example:8020",
    "dfs.namenode.rpc-address.lake.nn2": "two.example",
    "dfs.namenode.http-address.lake.nn1": "one.example:9870",
    "dfs.namenode.http-address.lake.nn2": "0.0.0.0:9870",
    "dfs.namenode.https-address.lake.nn1": "one.example:9871",
    "dfs.ha.namenodes.Sea": "a,b",
    "dfs.namenode.rpc-address.Sea.a": "three.example:8020",
    "dfs.namenode.rpc-address.Sea.b": "one.example:9000",
}
SINGLE = {
    "fs.defaultFS": "hdfs://nn.example:8020/",
    "dfs.namenode.http-address": "0.0.0.0:9870",
}
FEDERATION = {
    "dfs.nameservices": "a,b",
    "dfs.namenode.rpc-address.a": "nn.example:8020",
    "dfs.namenode.http-address.a": "nn.example:9870",
    "dfs.namenode.rpc-address.b": "nn.example:8021",
    "dfs.namenode.http-address.b": "nn.example:9871",
}


def place(names, text):
    scheme, _, rest = text.partition("://")
    return names.normal(scheme, rest)


@pytest.mark.parametrize(
    ("properties", "equal"),
    [
        ({}, ["hdfs://nn", "hdfs://nn:8020", "HDFS://NN:8020"]),
        ({}, ["hdfs://localhost", "hdfs://127.0.0.1:8020", "hdfs://LOCALHOST:8020", "hdfs://127.0.0.1"]),
        ({}, ["webhdfs://localhost:9870", "webhdfs://127.0.0.1:9870"]),
        ({}, ["s3://b", "s3a://b", "S3N://b"]),
        (
            LAKE,
            [
                "hdfs://lake",
                "hdfs://",
                "hdfs://Lake",
                "hdfs://one.example:8020",
                "hdfs://one.example",
                "hdfs://two.example",
                "hdfs://two.example:8020",
                "webhdfs://lake",
                "webhdfs://one.example:9870",
                "webhdfs://two.example:9870",
                "swebhdfs://one.example:9871",
            ],
        ),
        (LAKE, ["hdfs://sea", "hdfs://three.example", "hdfs://one.example:9000"]),
        (SINGLE, ["hdfs://", "hdfs://nn.example", "hdfs://nn.example:8020", "webhdfs://nn.example:9870"]),
        (FEDERATION, ["hdfs://nn.example", "webhdfs://nn.example:9870"]),
        (FEDERATION, ["hdfs://nn.example:8021", "webhdfs://nn.example:9871"]),
        ({"fs.defaultFS": "viewfs://all"}, ["viewfs://", "viewfs://all"]),
    ],
)
def test_the_names_of_one_cluster_are_one_place(properties, equal):
    names = ClusterNames(properties)
    assert len({place(names, text) for text in equal}) == 1


@pytest.mark.parametrize(
    ("properties", "different"),
    [
        ({}, ["hdfs://nn", "hdfs://nn:8021", "webhdfs://nn:8020", "webhdfs://nn", "viewfs://nn", "hdfs://", "s3://nn"]),
        (
            {},
            ["hdfs://localhost", "hdfs://[::1]", "hdfs://127.0.1.1", "hdfs://0.0.0.0", "hdfs://localhost.localdomain"],
        ),
        ({}, ["hdfs://nn", "hdfs://nn.example", "hdfs://nn."]),
        ({}, ["hdfs://user@nn", "hdfs://nn", "hdfs://other@nn"]),
        ({}, ["hdfs://nnk", "hdfs://nn\u212a"]),  # the sign of Kelvin, whose lower case is k
        ({}, ["s3://localhost", "s3://127.0.0.1"]),  # buckets
        (
            LAKE,
            ["hdfs://lake", "hdfs://sea", "hdfs://lake:8020", "hdfs://other", "webhdfs://sea:9870", "viewfs://lake"],
        ),
        # one host, two namenodes
        (LAKE, ["hdfs://one.example:8020", "hdfs://one.example:9000"]),
        (FEDERATION, ["hdfs://nn.example:8020", "hdfs://nn.example:8021", "hdfs://a", "hdfs://b", "hdfs://"]),
        (FEDERATION, ["webhdfs://nn.example:9870", "webhdfs://nn.example:9871"]),
        # a default of another scheme says nothing about hdfs:///
        ({"fs.defaultFS": "viewfs://nn"}, ["hdfs://", "hdfs://nn"]),
        ({"fs.defaultFS": "file:///"}, ["hdfs://", "hdfs://nn"]),
        # an address that two nameservices claim
        (
            {
                **LAKE,
                "dfs.namenode.rpc-address.Sea.b": "one.example:8020",
            },
            ["hdfs://one.example:8020", "hdfs://three.example", "hdfs://sea", "hdfs://lake", "hdfs://two.example"],
        ),
        # nameservices that differ in their case only
        (
            {
                "dfs.nameservices": "lake,LAKE",
                "dfs.ha.namenodes.lake": "a",
                "dfs.ha.namenodes.LAKE": "a",
                "dfs.namenode.rpc-address.lake.a": "one:8020",
                "dfs.namenode.rpc-address.LAKE.a": "two:8020",
            },
            ["hdfs://lake", "hdfs://one", "hdfs://two"],
        ),
        # an address that says every interface, without a host
        (
            {"dfs.namenode.rpc-address": "0.0.0.0:8020", "dfs.namenode.http-address": "0.0.0.0:9870"},
            ["hdfs://0.0.0.0:8020", "webhdfs://0.0.0.0:9870", "hdfs://nn", "webhdfs://nn:9870"],
        ),
    ],
)
def test_names_that_may_be_of_two_clusters_are_different_places(properties, different):
    names = ClusterNames(properties)
    assert len({place(names, text) for text in different}) == len(different)


HOSTS = st.sampled_from(["a", "b", "lake", "sea", "localhost", "127.0.0.1", "A", "0.0.0.0", "nn.x"])
ADDRESSES = st.tuples(HOSTS, st.sampled_from(["", ":8020", ":8021", ":9870"])).map("".join)


@given(
    st.lists(ADDRESSES, min_size=2, max_size=2),
    st.lists(ADDRESSES, min_size=2, max_size=2),
    st.sampled_from(["", "hdfs://lake", "hdfs://sea", "hdfs://a:8020", "viewfs://a", "hdfs://b"]),
)
def test_two_configured_clusters_stay_two_whatever_their_addresses_are(one, other, default):
    properties = {
        "fs.defaultFS": default,
        "dfs.nameservices": "lake,sea",
        "dfs.ha.namenodes.lake": "x,y",
        "dfs.ha.namenodes.sea": "x,y",
    }
    for name, addresses in (("lake", one), ("sea", other)):
        for node, address in zip("xy", addresses, strict=True):
            properties[f"dfs.namenode.rpc-address.{name}.{node}"] = address
    names = ClusterNames(properties)
    assert place(names, "hdfs://lake") != place(names, "hdfs://sea")
    full = [{address.lower().replace("127.0.0.1", "localhost") for address in group} for group in (one, other)]
    full = [{a if ":" in a else f"{a}:8020" for a in group} for group in full]
    for left, right in itertools.product(full[0] - full[1], full[1] - full[0]):
        assert place(names, f"hdfs://{left}") != place(names, f"hdfs://{right}")


def test_aliases_make_names_equal_in_chains_too():
    names = ClusterNames({}, ["webhdfs://nn:9870=hdfs://nn", "hdfs://old:8020=webhdfs://nn:9870", "s3a://p=s3://q"])
    assert place(names, "hdfs://old") == place(names, "hdfs://nn:8020") == place(names, "webhdfs://nn:9870")
    assert place(names, "s3://p") == place(names, "s3a://q")
    assert place(names, "hdfs://old:9000") != place(names, "hdfs://nn")
    lake = ClusterNames(LAKE, ["hdfs://proxy:8020=hdfs://lake", "hdfs://lake=hdfs://cname"])
    assert place(lake, "hdfs://proxy") == place(lake, "hdfs://two.example") == place(lake, "hdfs://cname:8020")


@pytest.mark.parametrize(
    ("aliases", "why"),
    [
        (["hdfs://a"], "is not of the form"),
        (["hdfs://a=hdfs://b=hdfs://c"], "is not of the form"),
        (["hdfs://a/x=hdfs://b"], "without a path"),
        (["/a=hdfs://b"], "without a path"),
        (["file:///=hdfs://b"], "without a path"),
        (["hdfs://=", "x"], "without a path"),
        (["s3://=s3://b"], "without a path"),
        (["hdfs://me:pass@a=hdfs://b"], "holds a user"),
        (["hdfs://a=hdfs://b", "hdfs://a:8020=hdfs://c"], "given for two places"),
        (["hdfs://one.example=hdfs://sea"], "joins two clusters"),
        (["hdfs://lake=hdfs://three.example:8020"], "joins two clusters"),
        (
            [
                "hdfs://x=hdfs://lake",
                "hdfs://y=hdfs://sea",
                "hdfs://x2=hdfs://x",
                "hdfs://y=hdfs://sea",
                "hdfs://x=hdfs://y",
            ],
            "given for two places",
        ),
        (["hdfs://x=hdfs://lake", "hdfs://y=hdfs://x", "hdfs://sea=hdfs://y"], "joins two clusters"),
    ],
)
def test_an_alias_that_cannot_be_meant_ends_the_start(aliases, why):
    with pytest.raises(SettingsError, match=why) as raised:
        ClusterNames(LAKE, aliases)
    assert "pass" not in raised.value.why


def test_a_table_is_opened_under_the_name_of_its_root():
    roots = AllowedRoots(["hdfs://SEA/w", "webhdfs://one.example:9870/w"], (), LAKE)
    for name in ("hdfs://lake/w/t", "hdfs:/w/t", "hdfs:///w/t", "hdfs://two.example:8020/w/t"):
        assert roots.locate(name).path == "webhdfs://one.example:9870/w/t"
    assert roots.locate("hdfs://three.example/w/t").path == "hdfs://Sea/w/t"
    for name in ("hdfs://lake/v/t", "hdfs://two.example:9870/w/t", "/w/t", "viewfs://lake/w/t"):
        with pytest.raises(Refused):
            roots.locate(name)


CORE = """<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="configuration.xsl"?>
<!-- a comment --><configuration>
<property><name> fs.defaultFS </name><value>
  hdfs://${dfs.nameservices}</value><final>true</final></property>
<property><name>loop</name><value>${loop}</value></property>
<property><name>unknown</name><value>${none.such}</value></property>
</configuration>"""
HDFS = """<configuration>
<property><name>fs.defaultFS</name><value>hdfs://evil</value></property>
<property><name>dfs.nameservices</name><value>lake</value></property>
<property><name>dfs.ha.namenodes.lake</name><value>nn1</value></property>
<property><name>dfs.namenode.rpc-address.lake.nn1</name><value>${env.NN_HOST}:8020</value></property>
</configuration>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "core-site.xml").write_text(CORE)
    (tmp_path / "hdfs-site.xml").write_text(HDFS)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("NN_HOST", "one.example")
    return tmp_path


def test_the_settings_read_hadoop_s_configuration_files(folder):
    properties = hadoop_properties(configuration_folder())
    assert properties == {
        "fs.defaultFS": "hdfs://lake",
        "dfs.nameservices": "lake",
        "dfs.ha.namenodes.lake": "nn1",
        "dfs.namenode.rpc-address.lake.nn1": "one.example:8020",
    }
    settings = load_settings(None, {"roots": "hdfs:///w", "aliases": "hdfs://vip=hdfs://lake"})
    roots = AllowedRoots.of(settings)
    assert roots.locate("hdfs://one.example/w/t").path == roots.locate("hdfs://vip:8020/w/t").path == "hdfs:///w/t"
    assert "hdfs://vip" in json.dumps(settings.aliases)


@pytest.mark.parametrize(
    "text",
    [
        "<configuration>",
        "",
        "\0",
        '<!DOCTYPE a [<!ENTITY e "x">]><configuration/>',
        " " * (5 << 20),
    ],
    ids=["cut", "empty", "null", "entity", "large"],
)
def test_a_broken_configuration_file_ends_the_start_where_hdfs_is_read_and_only_there(folder, text):
    (folder / "hdfs-site.xml").write_text(text)
    with pytest.raises(SettingsError, match=r"Hadoop's configuration: .*hdfs-site\.xml"):
        AllowedRoots.of(Settings(roots=("hdfs://lake/w",)))
    AllowedRoots.of(Settings(roots=("/w",)))


def test_hadoop_s_folder_comes_from_the_environment(tmp_path):
    assert configuration_folder({}) is None
    assert configuration_folder({"HADOOP_HOME": "/h"}) == configuration_folder({"HADOOP_CONF_DIR": "/h/etc/hadoop"})
    assert hadoop_properties(None) == hadoop_properties(tmp_path / "none") == {}


def test_options_of_a_table_hold_under_all_its_names():
    roots = AllowedRoots(["hdfs://lake/w"], (), LAKE)
    named = {"hdfs://one.example/w/t": 1, "hdfs://elsewhere/w/u": 2}
    assert roots.by_location(named) == {roots.locate("hdfs:///w/t").path: 1}
