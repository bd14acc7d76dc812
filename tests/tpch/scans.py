"""The scans of the 22 queries of TPC-H: for each query and table the condition on that table alone.

Written from the specification of TPC-H (tpc.org, clause 2.4). Q18 has no condition on one table. Where a query joins
its condition over two nations, the scan has what follows for each of them (Q7).
"""

from __future__ import annotations

from tests.tpc.scan import scans

SCANS = scans(
    ("Q1", "lineitem", "l_shipdate <= {last - delta day}"),
    ("Q2", "part", "p_size = {size} and p_type like {'%' type}"),
    ("Q2", "region", "r_name = {region}"),
    ("Q3", "customer", "c_mktsegment = {segment}"),
    ("Q3", "orders", "o_orderdate < {date}"),
    ("Q3", "lineitem", "l_shipdate > {date}"),
    ("Q4", "orders", "o_orderdate >= {date} and o_orderdate < {date + 3 month}"),
    ("Q4", "lineitem", "l_commitdate < l_receiptdate"),
    ("Q5", "region", "r_name = {region}"),
    ("Q5", "orders", "o_orderdate >= {date} and o_orderdate < {date + 1 year}"),
    (
        "Q6",
        "lineitem",
        """l_shipdate >= {date} and l_shipdate < {date + 1 year}
           and l_discount between {discount - 0.01} and {discount + 0.01} and l_quantity < {quantity}""",
    ),
    ("Q7", "nation", "n_name = {nation1} or n_name = {nation2}"),
    ("Q7", "lineitem", "l_shipdate between {first} and {last}"),
    ("Q8", "region", "r_name = {region}"),
    ("Q8", "orders", "o_orderdate between {first} and {last}"),
    ("Q8", "part", "p_type = {type}"),
    ("Q9", "part", "p_name like {'%' color '%'}"),
    ("Q10", "orders", "o_orderdate >= {date} and o_orderdate < {date + 3 month}"),
    ("Q10", "lineitem", "l_returnflag = {flag}"),
    ("Q11", "nation", "n_name = {nation}"),
    (
        "Q12",
        "lineitem",
        """l_shipmode in ({mode1}, {mode2}) and l_commitdate < l_receiptdate and l_shipdate < l_commitdate
           and l_receiptdate >= {date} and l_receiptdate < {date + 1 year}""",
    ),
    ("Q13", "orders", "o_comment not like {'%' word1 '%' word2 '%'}"),
    ("Q14", "lineitem", "l_shipdate >= {date} and l_shipdate < {date + 1 month}"),
    ("Q15", "lineitem", "l_shipdate >= {date} and l_shipdate < {date + 3 month}"),
    (
        "Q16",
        "part",
        """p_brand <> {brand} and p_type not like {type '%'}
           and p_size in ({size1}, {size2}, {size3}, {size4}, {size5}, {size6}, {size7}, {size8})""",
    ),
    ("Q16", "supplier", "s_comment like {'%' word1 '%' word2 '%'}"),
    ("Q17", "part", "p_brand = {brand} and p_container = {container}"),
    (
        "Q19",
        "lineitem",
        """(l_quantity >= {quantity1} and l_quantity <= {quantity1 + 10} or l_quantity >= {quantity2}
           and l_quantity <= {quantity2 + 10} or l_quantity >= {quantity3} and l_quantity <= {quantity3 + 10})
           and l_shipmode in ({mode1}, {mode2}) and l_shipinstruct = {instruction}""",
    ),
    (
        "Q19",
        "part",
        """p_brand = {brand1} and p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') and p_size between 1 and 5
           or p_brand = {brand2} and p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
           and p_size between 1 and 10
           or p_brand = {brand3} and p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
           and p_size between 1 and 15""",
    ),
    ("Q20", "part", "p_name like {color '%'}"),
    ("Q20", "lineitem", "l_shipdate >= {date} and l_shipdate < {date + 1 year}"),
    ("Q20", "nation", "n_name = {nation}"),
    ("Q21", "orders", "o_orderstatus = {status}"),
    ("Q21", "lineitem", "l_receiptdate > l_commitdate"),
    ("Q21", "nation", "n_name = {nation}"),
    (
        "Q22",
        "customer",
        """substring(c_phone, 1, 2) in ({code1}, {code2}, {code3}, {code4}, {code5}, {code6}, {code7})
           and c_acctbal > {balance}""",
    ),
)
