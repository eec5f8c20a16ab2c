"""Values of Spark SQL that Arrow has no type for, at several depths, and what a result has for them."""

from __future__ import annotations

QUERY = """
SELECT
  parse_json('{"z": [1, null]}') AS v,
  parse_json('"1"') AS t,
  array(parse_json('1'), parse_json('null'), NULL) AS a,
  map('k', parse_json('"x"'), 'n', NULL) AS m,
  named_struct('v', parse_json('[1]'), 'variant_id', 1, 'a.b', array(parse_json('true'))) AS s,
  IF(id < 0, named_struct('v', parse_json('1')), NULL) AS no_struct,
  named_struct('variant', 1) AS plain,
  named_struct('a', 1, 'a', 'x') AS twice,
  named_struct('a', 1, 'a', parse_json('2'), 'b', named_struct('a', parse_json('3'), 'a', interval 1 month)) AS both,
  interval 1 month AS i,
  array(interval 1 month) AS l
FROM range(1)"""
ROW = {
    "v": '{"z":[1,null]}',
    "t": '"1"',
    "a": ["1", "null", None],
    "m": [("k", '"x"'), ("n", None)],
    "s": {"v": "[1]", "variant_id": 1, "a.b": ["true"]},
    "no_struct": None,
    "plain": {"variant": 1},
    "twice": {"a_0": 1, "a_1": "x"},
    "both": {"a_0": 1, "a_1": "2", "b": {"a_0": "3", "a_1": "INTERVAL '1' MONTH"}},
    "i": "INTERVAL '1' MONTH",
    "l": ["INTERVAL '1' MONTH"],
}
