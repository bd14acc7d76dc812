"""HDFS through hdfs-native beside Hadoop's own client: the first filter of a process, and later ones.

    python -m tests.bench.hdfs_clients [--libhdfs FOLDER]

Starts a NameNode and a DataNode (``tests/cluster``). Hadoop's client is measured where FOLDER holds libhdfs.so, which
is in no package registry: seven C files of Hadoop's hadoop-hdfs-native-client, built against a JDK.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cluster.cluster import JDK_JAVA_OPTIONS, Cluster
from tests.hive.tables import unpack

_MEASURE = """
import json, resource, statistics, sys, time
from handler.planning.prune import prune
from index_store.opened_table import open_table
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
def once():
    began = time.perf_counter()
    kept = len(prune(open_table(sys.argv[1], storage_options={"client": sys.argv[2]}), "id between 309 and 311").kept)
    return time.perf_counter() - began, kept
before = cpu()
first, kept = once()
first_cpu = cpu() - before
later = [once()[0] for _ in range(20)]
print(json.dumps({
    "kept": kept,
    "first ms": round(first * 1e3), "first CPU ms": round(first_cpu * 1e3),
    "later ms": round(statistics.median(later) * 1e3, 1),
    "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--libhdfs", type=Path, help="folder of libhdfs.so")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder) / "c", datanodes=1, nodemanagers=0) as cluster:
        cluster.start_hdfs()
        cluster.put(unpack(Path(folder) / "tables") / "trips", "/lake/trips")
        for client in ("native", *(["java"] if arguments.libhdfs else [])):
            environment = {**os.environ, "HADOOP_CONF_DIR": str(cluster.conf), "SARGO_CACHE": "off"}
            if client == "java":
                environment |= {
                    "ARROW_LIBHDFS_DIR": str(arguments.libhdfs),
                    "CLASSPATH": f"{cluster.conf}:{cluster.libraries}/*",
                    "LIBHDFS_OPTS": f"-Xmx256m -XX:+UseSerialGC {JDK_JAVA_OPTIONS}",
                }
            command = [sys.executable, "-c", _MEASURE, f"{cluster.hdfs}/lake/trips", client]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            print(client, json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
