"""The scans of the 99 queries of TPC-DS: for each query and table the condition on that table alone.

Written from the specification of TPC-DS (tpc.org, appendix B). A query without a condition on one table has no row.
Where a query joins its conditions over several tables with OR, as Q13, Q48 and Q85 do, the scan has what follows for
its table. ``tests.tpc.scan`` says what a field is.
"""

from __future__ import annotations

from tests.tpc.scan import scans
from tests.tpcds.dates import DATES


def _fields(name: str, count: int) -> str:
    return ", ".join(f"{{{name}{number}}}" for number in range(1, count + 1))


def _basket(number: int, low: int) -> tuple[str, str, str]:
    """A part of Q28."""
    return (
        f"Q28.{number}",
        "store_sales",
        f"""ss_quantity between {low} and {low + 5 if low == 0 else low + 4}
            and (ss_list_price between {{price{number}}} and {{price{number} + 10}}
                 or ss_coupon_amt between {{coupon{number}}} and {{coupon{number} + 1000}}
                 or ss_wholesale_cost between {{cost{number}}} and {{cost{number} + 20}})""",
    )


def _clothes(category: str, first: int, sizes: tuple[int, int]) -> str:
    """A part of Q41."""
    return f"""(i_category = '{category}' and (i_color = {{color{first}}} or i_color = {{color{first + 1}}})
                and (i_units = {{unit{first}}} or i_units = {{unit{first + 1}}})
                and (i_size = {{size{sizes[0]}}} or i_size = {{size{sizes[1]}}}))"""


def _crew(level: str) -> str:
    """Q34 and Q73: dependants for each vehicle."""
    return f"""(hd_buy_potential = {{potential1}} or hd_buy_potential = {{potential2}}) and hd_vehicle_count > 0
               and (case when hd_vehicle_count > 0 then hd_dep_count / hd_vehicle_count else null end) > {level}"""


_PRICES = """(ss_sales_price between 100.00 and 150.00 or ss_sales_price between 50.00 and 100.00
              or ss_sales_price between 150.00 and 200.00)"""
_PEOPLE = """cd_marital_status = {status1} and cd_education_status = {education1}
             or cd_marital_status = {status2} and cd_education_status = {education2}
             or cd_marital_status = {status3} and cd_education_status = {education3}"""
_STATES = """ca_country = 'United States' and ca_state in ({state1}, {state2}, {state3})
             or ca_country = 'United States' and ca_state in ({state4}, {state5}, {state6})
             or ca_country = 'United States' and ca_state in ({state7}, {state8}, {state9})"""
_PERSON = "cd_gender = {gender} and cd_marital_status = {status} and cd_education_status = {education}"
_BRANDS = """(i_category in ('Books', 'Children', 'Electronics')
              and i_class in ('personal', 'portable', 'reference', 'self-help')
              and i_brand in ('scholaramalgamalg #14', 'scholaramalgamalg #7', 'exportiunivamalg #9',
                              'scholaramalgamalg #9'))
             or (i_category in ('Women', 'Music', 'Men')
              and i_class in ('accessories', 'classical', 'fragrances', 'pants')
              and i_brand in ('amalgimporto #1', 'edu packscholar #1', 'exportiimporto #1', 'importoamalg #1'))"""
_LOSSES = ((50, 250), (100, 200), (150, 300))

FACTS = scans(
    *(
        ("Q9." + str(number), "store_sales", f"ss_quantity between {20 * number - 19} and {20 * number}")
        for number in range(1, 6)
    ),
    (
        "Q13",
        "store_sales",
        f"""{_PRICES} and (ss_net_profit between 100 and 200 or ss_net_profit between 150 and 300
            or ss_net_profit between 50 and 250)""",
    ),
    *(_basket(number, low) for number, low in enumerate((0, 6, 11, 16, 21, 26), 1)),
    ("Q37", "inventory", "inv_quantity_on_hand between 100 and 500"),
    ("Q44.1", "store_sales", "ss_store_sk = {store}"),
    ("Q44.2", "store_sales", "ss_store_sk = {store} and ss_addr_sk is null"),
    (
        "Q48",
        "store_sales",
        f"""{_PRICES} and (ss_net_profit between 0 and 2000 or ss_net_profit between 150 and 3000
            or ss_net_profit between 50 and 25000)""",
    ),
    ("Q49", "web_sales", "ws_net_profit > 1 and ws_net_paid > 0 and ws_quantity > 0"),
    ("Q49", "catalog_sales", "cs_net_profit > 1 and cs_net_paid > 0 and cs_quantity > 0"),
    ("Q49", "store_sales", "ss_net_profit > 1 and ss_net_paid > 0 and ss_quantity > 0"),
    ("Q49", "store_returns", "sr_return_amt > 10000"),
    ("Q51", "web_sales", "ws_item_sk is not null"),
    ("Q51", "store_sales", "ss_item_sk is not null"),
    ("Q76", "store_sales", "ss_store_sk is null"),
    ("Q76", "web_sales", "ws_ship_customer_sk is null"),
    ("Q76", "catalog_sales", "cs_ship_addr_sk is null"),
    (
        "Q85",
        "web_sales",
        """(ws_sales_price between 100.00 and 150.00 or ws_sales_price between 50.00 and 100.00
            or ws_sales_price between 150.00 and 200.00)
           and (ws_net_profit between 100 and 200 or ws_net_profit between 150 and 300
                or ws_net_profit between 50 and 250)""",
    ),
)

ITEMS = scans(
    ("Q3", "item", "i_manufact_id = {manufacturer}"),
    *((query, "item", "i_category in ({category1}, {category2}, {category3})") for query in ("Q12", "Q20", "Q98")),
    ("Q19", "item", "i_manager_id = {manager}"),
    ("Q21", "item", "i_current_price between 0.99 and 1.49"),
    ("Q24.1", "item", "i_color = {color1}"),
    ("Q24.2", "item", "i_color = {color2}"),
    ("Q32", "item", "i_manufact_id = {manufacturer}"),
    ("Q33", "item", "i_category in ({category})"),
    *(
        (
            query,
            "item",
            f"i_current_price between {{price}} and {{price + 30}} and i_manufact_id in ({_fields('manufacturer', 4)})",
        )
        for query in ("Q37", "Q82")
    ),
    ("Q40", "item", "i_current_price between 0.99 and 1.49"),
    ("Q41.1", "item", "i_manufact_id between {manufacturer} and {manufacturer + 40}"),
    (
        "Q41.2",
        "item",
        " or ".join(
            _clothes(category, first, sizes)
            for category, first, sizes in (
                ("Women", 1, (1, 2)),
                ("Women", 3, (3, 4)),
                ("Men", 5, (5, 6)),
                ("Men", 7, (1, 2)),
                ("Women", 9, (1, 2)),
                ("Women", 11, (3, 4)),
                ("Men", 13, (5, 6)),
                ("Men", 15, (1, 2)),
            )
        ),
    ),
    ("Q42", "item", "i_manager_id = 1"),
    ("Q45", "item", "i_item_sk in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)"),
    ("Q53", "item", _BRANDS),
    ("Q54", "item", "i_category = {category} and i_class = {class}"),
    ("Q55", "item", "i_manager_id = {manager}"),
    ("Q56", "item", "i_color in ({color1}, {color2}, {color3})"),
    ("Q60", "item", "i_category in ({category})"),
    ("Q61", "item", "i_category = {category}"),
    (
        "Q64",
        "item",
        f"""i_color in ({_fields("color", 6)}) and i_current_price between {{price}} and {{price + 10}}
            and i_current_price between {{price + 1}} and {{price + 15}}""",
    ),
    ("Q75", "item", "i_category = {category}"),
    ("Q80", "item", "i_current_price > 50"),
    (
        "Q89",
        "item",
        """(i_category in ({category1}, {category2}, {category3}) and i_class in ({class1}, {class2}, {class3}))
           or (i_category in ({category4}, {category5}, {category6}) and i_class in ({class4}, {class5}, {class6}))""",
    ),
)

PEOPLE = scans(
    *((query, "customer_demographics", _PERSON) for query in ("Q7", "Q26", "Q27")),
    *((query, "customer_demographics", _PEOPLE) for query in ("Q13", "Q48", "Q85")),
    ("Q18", "customer_demographics", "cd_gender = {gender} and cd_education_status = {education}"),
    ("Q72", "customer_demographics", "cd_marital_status = {status}"),
    (
        "Q91",
        "customer_demographics",
        """cd_marital_status = 'M' and cd_education_status = 'Unknown'
           or cd_marital_status = 'W' and cd_education_status = 'Advanced Degree'""",
    ),
    ("Q13", "household_demographics", "hd_dep_count = 3 or hd_dep_count = 1 or hd_dep_count = 1"),
    ("Q34", "household_demographics", _crew("1.2")),
    *(
        (query, "household_demographics", "hd_dep_count = {dependants} or hd_vehicle_count = {vehicles}")
        for query in ("Q46", "Q68")
    ),
    ("Q72", "household_demographics", "hd_buy_potential = {potential}"),
    ("Q73", "household_demographics", _crew("1")),
    ("Q79", "household_demographics", "hd_dep_count = {dependants} or hd_vehicle_count > {vehicles}"),
    (
        "Q88",
        "household_demographics",
        """(hd_dep_count = {count1} and hd_vehicle_count <= {count1 + 2})
           or (hd_dep_count = {count2} and hd_vehicle_count <= {count2 + 2})
           or (hd_dep_count = {count3} and hd_vehicle_count <= {count3 + 2})""",
    ),
    ("Q90", "household_demographics", "hd_dep_count = {dependants}"),
    ("Q91", "household_demographics", "hd_buy_potential like {potential '%'}"),
    ("Q96", "household_demographics", "hd_dep_count = {dependants}"),
    ("Q8", "customer", "c_preferred_cust_flag = 'Y'"),
    ("Q18", "customer", f"c_birth_month in ({_fields('month', 6)})"),
    ("Q8", "customer_address", f"substring(ca_zip, 1, 5) in ({_fields('zip', 400)})"),
    ("Q10", "customer_address", f"ca_county in ({_fields('county', 5)})"),
    *((query, "customer_address", _STATES) for query in ("Q13", "Q48", "Q85")),
    *((query, "customer_address", "ca_state = {state}") for query in ("Q16", "Q30", "Q81", "Q94", "Q95")),
    (
        "Q15",
        "customer_address",
        """substr(ca_zip, 1, 5) in ('85669', '86197', '88274', '83405', '86475', '85392', '85460', '80348', '81792')
           or ca_state in ('CA', 'WA', 'GA')""",
    ),
    ("Q18", "customer_address", f"ca_state in ({_fields('state', 7)})"),
    *((query, "customer_address", "ca_gmt_offset = {offset}") for query in ("Q33", "Q56", "Q60", "Q61", "Q91")),
    ("Q69", "customer_address", "ca_state in ({state1}, {state2}, {state3})"),
    ("Q84", "customer_address", "ca_city = {city}"),
)

PLACES = scans(
    ("Q1", "store", "s_state = {state}"),
    ("Q24", "store", "s_market_id = {market}"),
    ("Q27", "store", f"s_state in ({_fields('state', 6)})"),
    ("Q34", "store", f"s_county in ({_fields('county', 8)})"),
    ("Q43", "store", "s_gmt_offset = {offset}"),
    ("Q46", "store", f"s_city in ({_fields('city', 5)})"),
    ("Q79", "store", "s_number_employees between 200 and 295"),
    ("Q88", "store", "s_store_name = 'ese'"),
    ("Q66", "ship_mode", "sm_carrier in ({carrier1}, {carrier2})"),
    ("Q84", "income_band", "ib_lower_bound >= {income} and ib_upper_bound <= {income + 50000}"),
    ("Q9", "reason", "r_reason_sk = 1"),
    ("Q93", "reason", "r_reason_desc = {reason}"),
)

TIMES = scans(
    ("Q66", "time_dim", "t_time between {time} and {time + 28800}"),
    ("Q71", "time_dim", "t_meal_time = 'breakfast' or t_meal_time = 'dinner'"),
    *(
        (f"Q88.{number}", "time_dim", f"t_hour = {8 + number // 2} and t_minute {'<' if number % 2 == 0 else '>='} 30")
        for number in range(1, 9)
    ),
    ("Q90.1", "time_dim", "t_hour between {morning} and {morning + 1}"),
    ("Q90.2", "time_dim", "t_hour between {evening} and {evening + 1}"),
    ("Q96", "time_dim", "t_hour = {hour} and t_minute >= 30"),
)

SCANS = FACTS + ITEMS + PEOPLE + PLACES + TIMES + DATES
