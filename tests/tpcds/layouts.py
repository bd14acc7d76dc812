"""The Hudi tables of TPC-DS: sales in the order of their days, as they arrive, and dimensions in that of their names.

The sales have rows without a day, a shop, a quantity. Small tables have a sample of the rows.
"""

from __future__ import annotations

from tests.tpc.layout import Layout, by_name

_STORE_SALES = (
    "ss_sold_date_sk ss_item_sk ss_store_sk ss_addr_sk ss_ticket_number ss_quantity ss_wholesale_cost ss_list_price "
    "ss_sales_price ss_coupon_amt ss_net_paid ss_net_profit"
)
_WEB_SALES = (
    "ws_sold_date_sk ws_item_sk ws_ship_customer_sk ws_order_number ws_quantity ws_sales_price ws_net_paid "
    "ws_net_profit"
)
_CATALOG_SALES = (
    "cs_sold_date_sk cs_item_sk cs_ship_addr_sk cs_order_number cs_quantity cs_net_paid cs_net_profit cs_sales_price"
)
_DATES = "d_date_sk d_date d_month_seq d_year d_dow d_moy d_dom d_qoy d_quarter_name"
_ITEM = (
    "i_item_sk i_current_price i_brand i_class i_category i_manufact_id i_size i_color i_units i_manager_id "
    "i_rec_start_date"
)
_ADDRESS = "ca_address_sk ca_city ca_county ca_state ca_zip ca_country ca_gmt_offset"
#: Sales that were counted again: fewer of them, some without a price, some in another month.
_COUNTED = (
    "ss_ticket_number % 120 = 1",
    {
        "ss_quantity": "ss_quantity - 10",
        "ss_list_price": "if(ss_item_sk % 2 = 0, null, ss_list_price)",
        "ss_sold_date_sk": "ss_sold_date_sk + 90 * (ss_item_sk % 2)",
    },
)
_REPRICED = (
    "i_item_sk % 20 = 1",
    {
        "i_current_price": "cast(i_current_price + 30 as decimal(7, 2))",
        "i_color": "if(i_item_sk % 40 = 1, null, i_color)",
    },
)

#: Of the items of a scale factor of 0.001.
_FEW = "i_item_sk % 3 = 1"


def _small(table: str, keys: str, columns: str, order: str) -> Layout:
    return Layout(name=table, table=table, keys=keys, columns=columns, order=order, files=(6, 6))


LAYOUTS = by_name(
    Layout(
        name="store_sales",
        table="store_sales",
        keys="ss_item_sk,ss_ticket_number",
        columns=_STORE_SALES,
        order="ss_sold_date_sk",
        files=(96, 16),
        sample="ss_ticket_number % 120 = 1",
    ),
    Layout(
        name="store_sales_counts",
        table="store_sales",
        keys="ss_item_sk,ss_ticket_number",
        columns=_STORE_SALES,
        order="ss_quantity,ss_sold_date_sk",
        files=(96, 12),
        merge_on_read=True,
        update=_COUNTED,
        sample="ss_ticket_number % 360 in (1, 31)",
    ),
    Layout(
        name="store_sales_shops",
        table="store_sales",
        keys="ss_item_sk,ss_ticket_number",
        columns=_STORE_SALES,
        order="ss_store_sk,ss_net_profit",
        files=(48, 8),
        partition="ss_store_sk",
        sample="ss_ticket_number % 120 = 1",
    ),
    Layout(
        name="web_sales",
        table="web_sales",
        keys="ws_item_sk,ws_order_number",
        columns=_WEB_SALES,
        order="ws_net_profit",
        files=(48, 10),
        sample="ws_order_number % 24 = 1",
    ),
    Layout(
        name="catalog_sales",
        table="catalog_sales",
        keys="cs_item_sk,cs_order_number",
        columns=_CATALOG_SALES,
        order="cs_sold_date_sk",
        files=(96, 12),
        sample="cs_order_number % 90 = 1",
    ),
    Layout(
        name="catalog_sales_days",
        table="catalog_sales",
        keys="cs_item_sk,cs_order_number",
        columns=_CATALOG_SALES,
        order="cs_sold_date_sk,cs_quantity",
        files=(96, 4),
        partition="cs_sold_date_sk",
        merge_on_read=True,
        sample="cs_sold_date_sk between 2451212 and 2451272 and cs_sold_date_sk % 5 = 2"
        " or cs_sold_date_sk is null and cs_order_number % 10 = 1",
    ),
    Layout(
        name="store_returns",
        table="store_returns",
        keys="sr_item_sk,sr_ticket_number",
        columns="sr_returned_date_sk sr_item_sk sr_ticket_number sr_return_amt",
        order="sr_return_amt",
        files=(32, 8),
        sample="sr_ticket_number % 24 = 1 or sr_return_amt > 9000",
    ),
    Layout(
        name="inventory",
        table="inventory",
        keys="inv_date_sk,inv_item_sk,inv_warehouse_sk",
        columns="inv_date_sk inv_item_sk inv_warehouse_sk inv_quantity_on_hand",
        order="inv_quantity_on_hand",
        files=(48, 8),
        sample="inv_item_sk % 300 = 1",
    ),
    Layout(
        name="inventory_weeks",
        table="inventory",
        keys="inv_date_sk,inv_item_sk,inv_warehouse_sk",
        columns="inv_date_sk inv_item_sk inv_warehouse_sk inv_quantity_on_hand",
        order="inv_date_sk",
        files=(48, 8),
        sample="inv_item_sk % 300 = 1",
    ),
    Layout(
        name="date_dim",
        table="date_dim",
        keys="d_date_sk",
        columns=_DATES,
        order="d_date_sk",
        files=(80, 24),
        sample="d_year between 1997 and 2004",
    ),
    Layout(
        name="item",
        table="item",
        keys="i_item_sk",
        columns=_ITEM,
        order="i_category,i_class",
        files=(40, 12),
        sample=_FEW,
    ),
    Layout(
        name="item_prices",
        table="item",
        keys="i_item_sk",
        columns=_ITEM,
        order="i_current_price,i_manufact_id",
        files=(40, 12),
        merge_on_read=True,
        update=_REPRICED,
        sample=_FEW,
    ),
    Layout(
        name="item_categories",
        table="item",
        keys="i_item_sk",
        columns=_ITEM,
        order="i_category,i_color",
        files=(40, 12),
        partition="i_category",
        merge_on_read=True,
        sample=_FEW,
    ),
    Layout(
        name="item_makers",
        table="item",
        keys="i_item_sk",
        columns=_ITEM,
        order="i_manufact_id",
        files=(40, 12),
        sample=_FEW,
    ),
    Layout(
        name="customer",
        table="customer",
        keys="c_customer_sk",
        columns="c_customer_sk c_preferred_cust_flag c_birth_month",
        order="c_preferred_cust_flag,c_birth_month",
        files=(24, 8),
    ),
    Layout(
        name="customer_address",
        table="customer_address",
        keys="ca_address_sk",
        columns=_ADDRESS,
        order="ca_state,ca_county",
        files=(40, 12),
    ),
    Layout(
        name="customer_address_zips",
        table="customer_address",
        keys="ca_address_sk",
        columns=_ADDRESS,
        order="ca_zip",
        files=(40, 12),
        merge_on_read=True,
    ),
    Layout(
        name="customer_demographics",
        table="customer_demographics",
        keys="cd_demo_sk",
        columns="cd_demo_sk cd_gender cd_marital_status cd_education_status",
        order="cd_marital_status,cd_education_status,cd_gender",
        files=(70, 12),
        sample="cd_demo_sk % 997 = 1",
    ),
    Layout(
        name="household_demographics",
        table="household_demographics",
        keys="hd_demo_sk",
        columns="hd_demo_sk hd_buy_potential hd_dep_count hd_vehicle_count",
        order="hd_vehicle_count,hd_dep_count",
        files=(40, 12),
        sample="hd_demo_sk % 11 = 1",
    ),
    Layout(
        name="household_potentials",
        table="household_demographics",
        keys="hd_demo_sk",
        columns="hd_demo_sk hd_buy_potential hd_dep_count hd_vehicle_count",
        order="hd_buy_potential,hd_vehicle_count",
        files=(40, 12),
        sample="hd_demo_sk % 11 = 1",
    ),
    Layout(
        name="time_dim",
        table="time_dim",
        keys="t_time_sk",
        columns="t_time_sk t_time t_hour t_minute t_meal_time",
        order="t_time",
        files=(48, 16),
        sample="t_time % 120 = 67",
    ),
    _small(
        "store",
        "s_store_sk",
        "s_store_sk s_store_name s_number_employees s_market_id s_city s_county s_state s_gmt_offset",
        "s_store_name",
    ),
    _small("ship_mode", "sm_ship_mode_sk", "sm_ship_mode_sk sm_type sm_code sm_carrier", "sm_carrier"),
    _small("income_band", "ib_income_band_sk", "ib_income_band_sk ib_lower_bound ib_upper_bound", "ib_lower_bound"),
    _small("reason", "r_reason_sk", "r_reason_sk r_reason_desc", "r_reason_desc"),
)
