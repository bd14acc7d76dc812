"""The Hudi tables of the yardstick: which table of TPC-H, in what order, in how many files, with which updates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Layout:
    """``files``: at a scale factor of 0.1 or more, and at a smaller one. ``update``: rows and their new values."""

    name: str
    table: str
    keys: str
    columns: str
    order: str
    files: tuple[int, int]
    partition: str = ""
    merge_on_read: bool = False
    update: tuple[str, dict[str, str]] | None = None

    @property
    def kind(self) -> str:
        return ("MOR" if self.merge_on_read else "COW") + (f" by {self.partition}" if self.partition else "")


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

LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            name="lineitem",
            table="lineitem",
            keys="l_orderkey,l_linenumber",
            columns=_LINEITEM,
            order="l_shipdate",
            files=(96, 24),
        ),
        Layout(
            name="lineitem_mor",
            table="lineitem",
            keys="l_orderkey,l_linenumber",
            columns=_LINEITEM,
            order="l_shipdate",
            files=(96, 24),
            merge_on_read=True,
            update=_LATE,
        ),
        Layout(
            name="lineitem_modes",
            table="lineitem",
            keys="l_orderkey,l_linenumber",
            columns=_LINEITEM,
            order="l_shipmode,l_receiptdate",
            files=(96, 24),
            partition="l_shipmode",
            merge_on_read=True,
            update=_LATE,
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
        Layout(
            name="part",
            table="part",
            keys="p_partkey",
            columns="p_partkey p_name p_brand p_type p_size p_container",
            order="p_brand,p_size",
            files=(50, 10),
        ),
        Layout(
            name="part_names",
            table="part",
            keys="p_partkey",
            columns="p_partkey p_name p_brand p_type p_size p_container",
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
}
