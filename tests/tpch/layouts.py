"""The Hudi tables of the yardstick: which table of TPC-H, in what order, in how many files, with which updates."""

from __future__ import annotations

from tests.tpc.layout import Layout, by_name

_LINEITEM = (
    "l_orderkey l_linenumber l_quantity l_discount l_returnflag l_shipdate l_commitdate l_receiptdate l_shipinstruct "
    "l_shipmode"
)
_ORDERS = "o_orderkey o_custkey o_orderstatus o_orderdate o_orderpriority o_comment"
#: Late shipments of two years, some of them into the range of other files.
_LATE = (
    "l_orderkey % 40 = 1 and l_shipdate >= date '1993-01-01' and l_shipdate < date '1995-01-01'",
    {
        "l_shipdate": "date_add(l_shipdate, 300 * (l_linenumber % 2))",
        "l_receiptdate": "date_add(l_receiptdate, 310)",
        "l_quantity": "cast(l_quantity + 5 as decimal(15, 2))",
    },
)
_REOPENED = (
    "o_orderkey % 30 = 1 and o_orderdate < date '1994-06-01'",
    {"o_orderdate": "date_add(o_orderdate, 500)", "o_orderstatus": "'P'"},
)

_PART = "p_partkey p_name p_brand p_type p_size p_container"

LAYOUTS = by_name(
    *(
        Layout(
            name=name,
            table="lineitem",
            keys="l_orderkey,l_linenumber",
            columns=_LINEITEM,
            order="l_shipmode,l_receiptdate" if partition else "l_shipdate",
            files=(96, 24),
            partition=partition,
            merge_on_read=merge_on_read,
            update=_LATE if merge_on_read else None,
        )
        for name, partition, merge_on_read in (
            ("lineitem", "", False),
            ("lineitem_mor", "", True),
            ("lineitem_modes", "l_shipmode", True),
        )
    ),
    Layout(
        name="orders",
        table="orders",
        keys="o_orderkey",
        columns=_ORDERS,
        order="o_orderdate",
        files=(48, 16),
    ),
    Layout(
        name="orders_mor",
        table="orders",
        keys="o_orderkey",
        columns=_ORDERS,
        order="o_orderpriority,o_orderdate",
        files=(50, 15),
        partition="o_orderpriority",
        merge_on_read=True,
        update=_REOPENED,
    ),
    Layout(
        name="customer",
        table="customer",
        keys="c_custkey",
        columns="c_custkey c_phone c_acctbal c_mktsegment",
        order="c_mktsegment,c_phone",
        files=(40, 10),
    ),
    Layout(name="part", table="part", keys="p_partkey", columns=_PART, order="p_brand,p_size", files=(50, 10)),
    Layout(
        name="part_names",
        table="part",
        keys="p_partkey",
        columns=_PART,
        order="p_name",
        files=(50, 10),
        merge_on_read=True,
    ),
    Layout(
        name="supplier",
        table="supplier",
        keys="s_suppkey",
        columns="s_suppkey s_nationkey s_comment",
        order="s_suppkey",
        files=(10, 3),
    ),
    Layout(
        name="nation",
        table="nation",
        keys="n_nationkey",
        columns="n_nationkey n_name n_regionkey",
        order="n_name",
        files=(5, 5),
    ),
    Layout(
        name="region",
        table="region",
        keys="r_regionkey",
        columns="r_regionkey r_name",
        order="r_name",
        files=(5, 5),
    ),
)
