"""A notebook over Hudi tables, as people have them; with ``register`` it has one line more.

    python -m tests.handler.spark.extension.notebook FOLDER HUDI OUT [register [cluster]]     with `.venv/spark35`

``cluster``: the executors are processes of their own, which have what the session gives them.

There is no guard around it, as in a notebook: whatever imports it as the main module again runs it again. OUT becomes
JSON: for each query its rows, how many files Spark read, and the name of its scan.
"""

import json
import sys
from pathlib import Path

from handler.spark import register
from tests.tables.releases import RELEASES, session

folder, out = Path(sys.argv[1]), Path(sys.argv[3])
with (out.parent / "runs").open("a") as runs:
    runs.write("one run\n")
master = "local-cluster[2,1,1024]" if "cluster" in sys.argv[4:] else "local[2]"
spark = session(RELEASES[sys.argv[2]], out.parent, master=master)
registered = None
if "register" in sys.argv[4:]:
    registered = [register(spark), register(spark)]

for name in ("cow", "mor"):
    path = folder / name
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name} USING hudi LOCATION '{path}'")
    spark.read.format("hudi").load(str(path)).createOrReplaceTempView(f"{name}_view")
other = spark.newSession()
found = {}


def asked(what, frame):
    """Run a query; Spark's own numbers say how many files were read."""
    scans = []
    plan = frame._jdf.queryExecution().executedPlan()
    rows = sorted(json.dumps(row.asDict(recursive=True), default=str) for row in frame.collect())
    leaves = plan.collectLeaves()
    for i in range(leaves.size()):
        metric = leaves.apply(i).metrics().get("numFiles")
        if metric.isDefined():
            scans.append([leaves.apply(i).nodeName().strip(), metric.get().value()])
    found[what] = {"rows": rows, "files": sum(count for _, count in scans), "scans": [name for name, _ in scans],
                   "by_buckets": "BucketedScan" in plan.toString()}  # fmt: skip


def load(of, name):
    return of.read.format("hudi").load(str(folder / name))


for name in ("cow", "mor"):
    asked(f"{name}: SQL over the catalog", spark.sql(f"SELECT id, i, s FROM {name} WHERE i > 100 AND i < 140"))
    asked(f"{name}: a view", spark.sql(f"SELECT count(*) AS n FROM {name}_view WHERE i BETWEEN 100 AND 140"))
    asked(f"{name}: a DataFrame", load(spark, name).where("s LIKE 'apple%' AND i < 0").select("id", "s"))
    asked(f"{name}: another session", load(other, name).where("i = 100").select("id", "i"))
    asked(
        f"{name}: a union",
        load(spark, name).where("i = 100").select("id").union(load(spark, name).where("i = 7").select("id")),
    )
    asked(
        f"{name}: a self join",
        spark.sql(f"SELECT a.id, b.i FROM {name} a JOIN {name} b ON a.id = b.id WHERE a.i = 100 AND b.i < 1000"),
    )
    asked(f"{name}: a date", load(spark, name).where("dt < DATE '2020-01-14'").select("id", "dt"))
    asked(f"{name}: a nested column", load(spark, name).where("st.x = 31 AND year(dt) >= 2019").select("id", "st"))
    asked(f"{name}: no filter", load(spark, name).select("id"))
asked("mor: read optimised", spark.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized")
      .load(str(folder / "mor")).where("i = 100").select("id", "i"))  # fmt: skip
if (folder / "buckets").exists():
    spark.conf.set("hoodie.index.type", "BUCKET")
    spark.conf.set("hoodie.bucket.index.num.buckets", "4")
    spark.conf.set("spark.sargo.buckets", "true")
    asked("buckets: groups", load(spark, "buckets").groupBy("id").count())
spark.conf.set("spark.sargo.enabled", "false")
asked("turned off", load(spark, "cow").where("i = 100").select("id", "i"))
spark.conf.set("spark.sargo.enabled", "true")
asked("turned on", load(spark, "cow").where("i = 100").select("id", "i"))

# The first cells once more: another application in the same JVM.
spark.stop()
spark = session(RELEASES[sys.argv[2]], out.parent, master=master)
if registered:
    registered.append(register(spark))
for name in ("cow", "mor"):
    asked(f"{name}: another application", load(spark, name).where("i = 100").select("id", "i"))
out.write_text(json.dumps({"registered": registered, "queries": found}), encoding="utf-8")
spark.stop()
