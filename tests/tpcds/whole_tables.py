"""The 24 tables of TPC-DS with all their columns, written by real Hudi.

    python -m tests.tpcds.whole_tables RAW OUT     with the Python that has Spark 3.5

RAW has the generator's Parquet files, and ``OUT/<table>`` are the tables. The facts are in the order of their days.
Those of ``_MERGED`` are MERGE_ON_READ, with log files beside some base files, where nothing changes but one column that
no query joins by. The metadata table has ``column_stats`` of the columns that Hudi takes by default: the first 32.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from tests.tables.releases import RELEASES, session
from tests.tpc.layout import Layout, by_name
from tests.tpc.write import write

__all__ = ["TABLES"]

#: Fact -> its key, the column of its order, that of its partitions.
_FACTS = {
    "store_sales": ("ss_item_sk,ss_ticket_number", "ss_sold_date_sk", ""),
    "store_returns": ("sr_item_sk,sr_ticket_number", "sr_returned_date_sk", ""),
    "catalog_sales": ("cs_item_sk,cs_order_number", "cs_sold_date_sk", ""),
    "catalog_returns": ("cr_item_sk,cr_order_number", "cr_returned_date_sk", ""),
    "web_sales": ("ws_item_sk,ws_order_number", "ws_sold_date_sk", "ws_warehouse_sk"),
    "web_returns": ("wr_item_sk,wr_order_number", "wr_returned_date_sk", ""),
    "inventory": ("inv_date_sk,inv_item_sk,inv_warehouse_sk", "inv_date_sk", ""),
}
#: Dimension -> its key, the column of its order.
_DIMENSIONS = {
    "call_center": ("cc_call_center_sk", "cc_name"),
    "catalog_page": ("cp_catalog_page_sk", "cp_catalog_page_id"),
    "customer": ("c_customer_sk", "c_customer_sk"),
    "customer_address": ("ca_address_sk", "ca_state"),
    "customer_demographics": ("cd_demo_sk", "cd_demo_sk"),
    "date_dim": ("d_date_sk", "d_date_sk"),
    "household_demographics": ("hd_demo_sk", "hd_buy_potential"),
    "income_band": ("ib_income_band_sk", "ib_lower_bound"),
    "item": ("i_item_sk", "i_category"),
    "promotion": ("p_promo_sk", "p_promo_sk"),
    "reason": ("r_reason_sk", "r_reason_sk"),
    "ship_mode": ("sm_ship_mode_sk", "sm_type"),
    "store": ("s_store_sk", "s_state"),
    "time_dim": ("t_time_sk", "t_time_sk"),
    "warehouse": ("w_warehouse_sk", "w_warehouse_sk"),
    "web_page": ("wp_web_page_sk", "wp_web_page_sk"),
    "web_site": ("web_site_sk", "web_name"),
}
#: Table -> which rows are updated, and their new values.
_MERGED = {
    "catalog_sales": ("cs_order_number % 200 = 1", {"cs_quantity": "cs_quantity + 1"}),
    "store_returns": ("sr_ticket_number % 300 = 1", {"sr_return_quantity": "sr_return_quantity + 1"}),
    "item": ("i_item_sk % 50 = 1", {"i_wholesale_cost": "cast(i_wholesale_cost + 1 as decimal(7, 2))"}),
    "customer": ("c_customer_sk % 400 = 1", {"c_birth_year": "c_birth_year + 1"}),
}


def _layout(name: str, keys: str, order: str, partition: str, files: int) -> Layout:
    update = _MERGED.get(name)
    return Layout(
        name=name,
        table=name,
        keys=keys,
        columns="*",
        order=order,
        files=(files, files),
        partition=partition,
        merge_on_read=update is not None,
        update=update,
    )


TABLES = by_name(
    *(_layout(name, *given, 12) for name, given in _FACTS.items()),
    *(_layout(name, keys, order, "", 3) for name, (keys, order) in _DIMENSIONS.items()),
)


def main(raw: Path, out: Path) -> None:
    release = RELEASES["1.2.0"]
    release.fetch()
    spark = session(release, out)
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    for layout in TABLES.values():
        begun = time.monotonic()
        path = out / layout.name
        shutil.rmtree(path, ignore_errors=True)
        write(spark, layout, raw, path, small=False)
        print(f"{layout.name}: written in {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
