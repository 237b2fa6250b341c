"""Spark's dialect of SQL: its tables and views as they are written for Spark, which is the oracle in
`tests/spark/test_dialect.py`."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

TABLES = """
CREATE TABLE t (
    pk INT NOT NULL, a INT, b INT, s STRING, x DOUBLE, m DECIMAL(8, 2), d DATE, w TIMESTAMP, ok BOOLEAN,
    xs ARRAY<INT>, ss ARRAY<STRING>, j STRING
) USING parquet;
CREATE TABLE p (k INT, c INT);
"""
SCHEMAS = {
    "t": "pk INT, a INT, b INT, s STRING, x DOUBLE, m DECIMAL(8, 2), d DATE, w TIMESTAMP, ok BOOLEAN, "
    "xs ARRAY<INT>, ss ARRAY<STRING>, j STRING",
    "p": "k INT, c INT",
}
_DAY, _MOMENT, _NUMBER = datetime.date, datetime.datetime, Decimal
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "t": [
        (1, 1, 2, "a", 0.5, _NUMBER("1.25"), _DAY(2020, 1, 31), _MOMENT(2020, 2, 1, 13, 5, 7, 250000), True,
         [1, 2, None, 1], ["x", "y"], '{"a": {"b": 1}, "b": [1, 2.5, "x"], "c": "hi"}'),
        (2, 1, 5, "ab", 2.25, _NUMBER("2.00"), _DAY(2020, 2, 29), _MOMENT(2020, 2, 29), False,
         [3, 2], ["z", None], '{"a": 5, "c": null, "d": {"e": true}}'),
        (3, 2, None, "b a", 1.125, None, _DAY(2019, 12, 31), None, None, [], [], "no"),
        (4, 2, 7, None, None, _NUMBER("-3.07"), None, _MOMENT(2019, 12, 31, 23, 59, 59), True,
         None, None, None),
        (5, 3, 2, "a", -1.5, _NUMBER("99.99"), _DAY(2021, 7, 4), _MOMENT(2021, 7, 4, 0, 30), False,
         [2], ["q"], "[1]"),
        (6, None, 3, "B", 12345.678, _NUMBER("0.05"), _DAY(2020, 3, 1), _MOMENT(2020, 3, 1, 12), True,
         [None], ["a", "b", "c"], '{"a": "q"}'),
        (7, 2, 5, "ba", 2.5, _NUMBER("10.10"), _DAY(2020, 5, 17), _MOMENT(2020, 5, 17, 9, 9, 9), None,
         [5, 1, 4], ["m"], "{}"),
    ],
    "p": [(1, 1), (5, 2), (2, None), (2, 2), (7, 9)],
}  # fmt: skip

EXPRESSIONS = r"""
a / b
a / 2
m / b
m / 3
b / m
m * m
m * a
m + a
m - 1.5
m + 1
a % b
x % 2
m % 2
a div 2
m div 2
pmod(-a, 3)
mod(b, 3)
-a
abs(-x)
round(x, 1)
round(x)
round(m, 1)
round(m)
bround(x, 1)
bround(2.5)
bround(m, 1)
round(125, -1)
floor(x)
ceil(x)
ceiling(m)
floor(-m)
sign(x)
signum(a)
sqrt(x)
ln(x)
log(x)
log(2, b)
log10(x)
log2(x)
log1p(x)
exp(x)
expm1(x)
pow(x, 2)
power(b, 2)
cbrt(x)
hypot(a, b)
degrees(x)
radians(x)
sin(x)
atan2(x, 1)
pi()
e()
factorial(b)
shiftleft(a, 2)
shiftright(b, 1)
a & b
a | b
a ^ b
~a
bit_count(b)
hex(a)
hex(s)
bin(b)
conv('ff', 16, 10)
conv('100', 2, 16)
format_number(x * 12345, 2)
try_divide(a, b - 2)
try_add(a, b)
negative(a)
rint(x)
greatest(a, b)
least(a, b, 2)
coalesce(a, b, 0)
nvl(a, -1)
nvl2(a, 'y', 'n')
ifnull(s, '?')
nullif(a, 1)
if(a > 1, 'x', s)
isnull(a)
isnotnull(s)
isnan(x)
nanvl(x, 0)
decode(a, 1, 'one', 2, 'two', 'other')
decode(a, 1, 'one', NULL, 'none')
a <=> b
a == b
a != b
a <> 1
NOT ok
!ok
ok AND a > 1
a IS DISTINCT FROM b
a BETWEEN 1 AND 2
a IN (1, NULL)
s IN ('a', 'b')
CASE a WHEN 1 THEN 'x' ELSE 'y' END
CASE WHEN a > 1 THEN 1.5 ELSE 2 END
CAST(x AS INT)
CAST(x AS BIGINT)
CAST(x * -1 AS INT)
CAST(m AS INT)
CAST(m AS DECIMAL(10,1))
CAST(x AS DECIMAL(10,1))
CAST(a AS STRING)
CAST(x AS STRING)
CAST(x * 1e10 AS STRING)
CAST(x / 1e6 AS STRING)
CAST(m AS STRING)
CAST(ok AS STRING)
CAST(d AS STRING)
CAST(w AS STRING)
CAST(d AS TIMESTAMP)
CAST(w AS DATE)
CAST(w AS BIGINT)
CAST(w AS DOUBLE)
CAST(a AS DOUBLE)
CAST(ok AS INT)
CAST(a AS BOOLEAN)
CAST('12' AS INT)
CAST(' 12 ' AS INT)
CAST('1.255' AS DECIMAL(5,2))
CAST('2020-1-5' AS DATE)
CAST('2020-01-05 3:04:05.5' AS TIMESTAMP)
CAST('yes' AS BOOLEAN)
TRY_CAST(s AS INT)
TRY_CAST('x' AS DATE)
try_cast('1.5' AS INT)
int('7')
string(a)
double(a)
date('2020-01-02')
bigint(x)
a::string
1.5D
2L
3S
1.25BD
1e3
"text"
'a\'b\\c'
concat(s, '-', a)
concat(s, NULL)
s || '-' || a
concat_ws(',', s, 'x', NULL)
upper(s)
ucase(s)
lower(s)
lcase('ABC')
initcap('hello wORLD foo')
from_utc_timestamp(w, 'Asia/Tokyo')
to_utc_timestamp(w, 'America/New_York')
to_utc_timestamp(TIMESTAMP'2024-10-27 02:30:00', 'Europe/Berlin')
to_utc_timestamp(TIMESTAMP'2024-03-31 02:30:00', 'Europe/Berlin')
regexp_extract('É d', '(\\w+)', 1)
length(s)
char_length(s)
len(s)
octet_length('é')
substring(s, 2)
substring(s, 0, 2)
substring('hello', -3, 2)
substr('hello', 2, 3)
substring('hello' FROM 2 FOR 2)
left(s, 2)
right(s, 2)
instr(s, 'a')
locate('l', 'hello')
locate('l', 'hello', 4)
position('l' IN 'hello')
split('a,b,,c,', ',')
split('a1b2c', '[0-9]')
split('a1b2c', '[0-9]', 2)
split('abc', '')
split_part('a,b,c', ',', 2)
split_part('a,b,c', ',', -1)
substring_index('a.b.c', '.', 2)
substring_index('a.b.c', '.', -2)
regexp_extract('100-200', '(\\d+)-(\\d+)', 1)
regexp_extract('100-200', '(\\d+)-(\\d+)')
regexp_extract('foo', '(\\d+)', 1)
regexp_extract_all('100-200, 300-400', '(\\d+)-(\\d+)', 1)
regexp_replace('100-200', '(\\d+)', 'num')
regexp_replace('a1b', '([a-z])(\\d)', '$2$1')
regexp_count('a1b22', '\\d')
regexp_substr('a1b22', '\\d+')
regexp_instr('a1b22', '\\d+')
regexp_like(s, '^a')
s RLIKE 'b$'
s REGEXP 'a'
s LIKE 'a%'
s LIKE '%a'
'a%b' LIKE 'a\\%b'
s LIKE 'a!%' ESCAPE '!'
s ILIKE 'A%'
s LIKE ANY ('a%', 'b%')
s LIKE ALL ('a%', '%a')
lpad(s, 5, '*')
rpad(s, 5)
lpad('hello', 2)
trim('  a ')
ltrim('  a ')
rtrim('  a ')
trim('x' FROM 'xxaxx')
trim(LEADING 'x' FROM 'xxaxx')
btrim('  a ')
btrim('xxaxx', 'x')
translate('AaBbCc', 'abc', '123')
repeat(s, 2)
replace('abcabc', 'b')
replace('abcabc', 'b', 'z')
reverse(s)
ascii(s)
chr(65)
char(97)
base64('Spark')
md5('Spark')
sha1('Spark')
sha('Spark')
sha2('Spark', 256)
sha2('Spark', 512)
sha2('Spark', 0)
crc32('Spark')
soundex('Miller')
soundex('Ashcraft')
soundex('Tymczak')
levenshtein('kitten', 'sitting')
startswith(s, 'a')
endswith(s, 'a')
contains(s, 'b')
find_in_set('ab', 'abc,b,ab,c,def')
elt(2, 'a', 'b')
overlay('Spark SQL' PLACING '_' FROM 6)
overlay('Spark SQL' PLACING 'tructured' FROM 2 FOR 4)
space(3)
date_format(w, 'yyyy-MM-dd HH:mm:ss')
date_format(w, 'yy/M/d h:m a')
date_format(d, 'EEE, MMM d, yyyy')
date_format(d, 'EEEE MMMM')
date_format(w, "yyyy'T'HHmmss.SSS")
date_format(w, 'D Q')
date_format(d, 'yyyyMM')
to_date('2020-02-29')
to_date('29/02/2020', 'dd/MM/yyyy')
to_date(w)
to_date('20200102', 'yyyyMMdd')
to_timestamp('2020-02-29 12:13:14')
to_timestamp('29/02/2020 1:05 PM', 'dd/MM/yyyy h:mm a')
try_to_timestamp('x')
date_add(d, 3)
date_sub(d, 3)
date_add(d, a)
dateadd(d, 2)
dateadd(MONTH, 1, d)
date_add(DAY, 2, d)
dateadd(HOUR, 1, w)
timestampadd(DAY, 2, w)
add_months(d, 1)
add_months('2020-01-31', 1)
months_between(w, d)
months_between('2020-03-31', '2020-02-29')
months_between(w, d, false)
datediff(d, '2020-01-01')
date_diff(d, DATE '2020-01-01')
datediff(MONTH, d, w)
timestampdiff(DAY, d, w)
timestampdiff(HOUR, w, TIMESTAMP '2021-01-01 00:00:00')
trunc(d, 'MM')
trunc(d, 'year')
date_trunc('MONTH', w)
date_trunc('week', w)
date_trunc('HOUR', w)
dayofweek(d)
weekday(d)
dayofyear(d)
dayofmonth(d)
day(d)
weekofyear(d)
year(d)
month(w)
quarter(d)
hour(w)
minute(w)
second(w)
last_day(d)
next_day(d, 'MO')
unix_timestamp(w)
unix_timestamp('2020-01-01 00:00:00')
unix_timestamp('2020/01/01', 'yyyy/MM/dd')
from_unixtime(86400)
from_unixtime(86400, 'yyyy')
unix_date(d)
date_from_unix_date(3)
unix_seconds(w)
unix_millis(w)
timestamp_seconds(10)
timestamp_millis(1500)
make_date(2020, a, b)
date_part('YEAR', d)
date_part('dow', d)
extract(YEAR FROM d)
extract(DOW FROM d)
extract(WEEK FROM w)
extract(MONTH FROM w)
dayname(d)
monthname(d)
d + INTERVAL 1 DAY
d - INTERVAL 1 MONTH
d + INTERVAL 1 HOUR
w + INTERVAL 2 DAYS
w - INTERVAL '3' HOUR
d + 1
d - 1
d - DATE '2020-01-01'
w - TIMESTAMP '2020-01-01 00:00:00'
d > '2020-03-01'
w >= '2020-02-01'
d < w
array(1, 2, NULL)
array()
element_at(array(1,2,3), -1)
try_element_at(xs, 9)
get(xs, 5)
size(xs)
array_size(xs)
cardinality(xs)
array_contains(xs, 1)
array_contains(xs, 9)
array_distinct(xs)
array_union(xs, array(7))
array_intersect(xs, array(1, NULL))
array_except(xs, array(1))
array_join(ss, '-')
array_join(ss, '-', '?')
array_max(xs)
array_min(xs)
array_position(xs, 2)
array_remove(xs, 1)
array_append(xs, 5)
array_prepend(xs, 5)
array_compact(xs)
array_repeat(a, 2)
array_insert(xs, 2, 9)
array_insert(xs, -1, 9)
array_sort(xs)
sort_array(xs)
sort_array(xs, false)
slice(array(1,2,3,4), 2, 2)
slice(array(1,2,3,4), -2, 2)
flatten(array(xs, array(1)))
sequence(1, 4)
sequence(4, 1)
sequence(1, 10, 3)
transform(xs, e -> e + 1)
filter(xs, e -> e > 1)
exists(xs, e -> e > 1)
forall(xs, e -> e > 0)
aggregate(xs, 0, (s, e) -> s + coalesce(e, 0))
aggregate(xs, 0, (s, e) -> s + coalesce(e, 0), s -> s * 10)
reduce(array(1,2), 0, (s, e) -> s + e)
arrays_overlap(xs, array(1, 2))
reverse(xs)
concat(xs, array(1))
array('a', s)
get_json_object(j, '$.a')
get_json_object(j, '$.b[1]')
get_json_object(j, '$.c')
get_json_object(j, '$.d.e')
get_json_object(j, '$')
json_array_length('[1,2]')
json_object_keys(j)
`a` + `b`
equal_null(a, b)
zeroifnull(a)
nullifzero(a)
a = '1'
a > '1'
x = '1.5'
months_between('1997-02-28 10:30:00', '1996-10-30')
acos(x / 100000)
asin(x / 100000)
atan(x)
boolean(a)
character_length(s)
cos(x)
cosh(x / 10000)
cot(x)
datepart('MONTH', d)
float(a)
regexp(s, 'a')
rlike(s, 'a')
smallint(a)
tinyint(a)
sinh(x / 10000)
tan(x)
tanh(x)
timestamp('2020-01-02')
timestamp_micros(5)
to_unix_timestamp('2020-01-01 00:00:01')
try_multiply(a, b)
try_subtract(a, b)
try_to_date('2020-13-01')
unix_micros(w)
extract(HOUR FROM w)
shiftright(b, 2)
date_part('DOY', d)
date_part('QUARTER', w)
round(x, -1)
round(-2.5)
bround(-x, 2)
CAST(x AS DECIMAL(20, 0))
CAST(2.5 AS INT)
CAST(2.5D AS DECIMAL(2, 0))
CAST(-m AS INT)
m / (b - 100)
sum(1) OVER (ORDER BY pk)
positive(a)
width_bucket(x, 0, 10, 4)
width_bucket(m, 10, -5, 3)
width_bucket(b, 2, 2, a)
(a, b) = (1, 2)
(a, b) <> (1, CAST(NULL AS INT))
(a, b) < (2, 5)
(a, s) >= (b, 'a')
named_struct('x', a, 'y', s).y
named_struct('x', a, 'y', s)['x']
struct(a, b AS c, 5)
named_struct('u', named_struct('v', d)).u.v
map('p', a, 'q', b)
map('p', a)['p']
map('p', a)['zz']
map_from_arrays(array(1, 2), array(s, 'x'))
map_keys(map('p', a, 'q', NULL))
map_values(map('p', a, 'q', NULL))
map_contains_key(map(pk, a), 3)
map_concat(map('p', a), map('q', b))
map_entries(map(pk, s))
element_at(map('p', a), 'p')
try_element_at(map('p', a), 'x')
size(map('p', a, 'q', b))
cardinality(map('p', a))
CAST(named_struct('x', a, 'y', b) AS STRUCT<x: DOUBLE, y: BIGINT>)
transform(array(named_struct('z', a), named_struct('z', b)), e -> e.z)
upper(concat(s, 'ßﬁ'))
lower(concat(s, 'İΣ'))
split_part(s, '', 1)
split_part(s, '', 2)
split_part(s, '', -1)
bit_count(-a)
CAST(x + 0.285 AS DECIMAL(8, 2))
CAST(x * 0 + 1.255D AS DECIMAL(8, 2))
TRY_CAST(x * 0 + double('NaN') AS DECIMAL(8, 2))
CAST(x * 0 + double('NaN') AS STRING)
round(x * 0 + 2.675D, 2)
sign(x * 0 + double('NaN'))
TRY_CAST('1.5' AS INT)
TRY_CAST(' true ' AS BOOLEAN)
TRY_CAST(concat(' true ', left(s, 0)) AS BOOLEAN)
TRY_CAST('1_000' AS INT)
TRY_CAST(concat('1_000', left(s, 0)) AS DOUBLE)
TRY_CAST(concat('1_000', left(s, 0)) AS DECIMAL(8, 2))
TRY_CAST(concat('1d', left(s, 0)) AS DOUBLE)
TRY_CAST(concat('2024-1-5', left(s, 0)) AS DATE)
TRY_CAST('2024-1-5' AS DATE)
TRY_CAST(concat(' 7 ', left(s, 0)) AS DOUBLE)
"""
"""Expressions over the columns of `t`, one a line."""

QUERIES = r"""
SELECT pk, percent_rank() OVER (PARTITION BY a ORDER BY b) AS p, cume_dist() OVER (ORDER BY d) AS c, m / sum(m) OVER (PARTITION BY a) AS h, count(*) OVER () AS n, avg(m) OVER (PARTITION BY a) AS v, max(s) OVER (PARTITION BY ok) AS q FROM t
SELECT a, approx_count_distinct(s) AS q, approx_count_distinct(b, 0.1) AS r FROM t GROUP BY a
SELECT k, e FROM (SELECT pk AS k, explode(xs) AS e FROM t)
SELECT pk, e FROM t LATERAL VIEW explode(xs) v AS e
SELECT pk, e FROM t LATERAL VIEW OUTER explode(xs) v AS e
SELECT pk, e FROM t LATERAL VIEW explode_outer(xs) AS e
SELECT pk, p, e FROM t LATERAL VIEW posexplode(xs) v AS p, e
SELECT pk, p, e FROM t LATERAL VIEW OUTER posexplode(xs) v AS p, e WHERE pk > 2
SELECT pk, e, f FROM t LATERAL VIEW explode(xs) v AS e LATERAL VIEW explode(ss) u AS f
SELECT pk, e, f FROM t LATERAL VIEW explode(xs) v AS e LATERAL VIEW explode(array(e, 10)) u AS f
SELECT pk, c0, c1 FROM t LATERAL VIEW json_tuple(j, 'a', 'c') v
SELECT pk, q, r FROM t LATERAL VIEW json_tuple(j, 'a', 'c') v AS q, r
SELECT pk, n, v FROM t LATERAL VIEW stack(2, 'a', a, 'b', b) v AS n, v
SELECT e, count(*) AS n FROM t LATERAL VIEW explode(split(s, '')) v AS e GROUP BY e
SELECT t.pk, v.e FROM t, LATERAL explode(t.xs) AS v(e)
SELECT t.pk, v.e FROM t LEFT JOIN LATERAL explode(t.xs) AS v(e) ON TRUE
SELECT a, sort_array(collect_list(b)) AS l, sort_array(collect_set(b)) AS u, size(collect_list(s)) AS n FROM t GROUP BY a
SELECT sort_array(collect_list(b)) AS l, collect_list(b) FILTER (WHERE b > 100) AS z FROM t
SELECT a, explode(sort_array(collect_set(b))) AS e FROM t GROUP BY a
SELECT a, avg(m) AS m, avg(b) AS b, avg(x) AS x, sum(m) AS sm, sum(m) / count(m) AS q, mean(b) AS mb, max(m) - min(m) AS r FROM t GROUP BY a
SELECT avg(m) AS m, stddev(b) AS s, variance(x) AS v, stddev_pop(b) AS p, var_pop(x) AS vp, std(b) AS st FROM t
SELECT a, count_if(b > 2) AS c, every(ok) AS e, some(ok) AS o, bool_and(ok) AS ba, max_by(s, pk) AS mb, min_by(s, pk) AS nb, median(b) AS md, percentile(b, 0.25) AS pc FROM t GROUP BY a
SELECT bit_and(b) AS x, bit_or(b) AS y, bit_xor(b) AS z FROM t
SELECT a, bit_and(b) AS x, bit_or(b) AS y, bit_xor(b) AS z FROM t GROUP BY a
SELECT count(DISTINCT a) AS n, sum(DISTINCT b) AS s, count(*) AS c, count(s) AS d FROM t
SELECT a, listagg(s, ',') WITHIN GROUP (ORDER BY pk) AS l FROM t GROUP BY a
SELECT a, b, count(*) AS n, grouping(a) AS g FROM t GROUP BY ROLLUP(a, b)
SELECT a, b, count(*) AS n FROM t GROUP BY a, b GROUPING SETS ((a), (b), ())
SELECT a, b, count(*) AS n FROM t GROUP BY CUBE(a, b)
SELECT a, b, count(*) AS n FROM t GROUP BY a, b WITH ROLLUP
SELECT a AS k, count(*) AS n FROM t GROUP BY k HAVING n > 1
SELECT pk, row_number() OVER (PARTITION BY a ORDER BY b, pk) AS r, rank() OVER (ORDER BY b) AS k, dense_rank() OVER (ORDER BY b DESC) AS dk, lag(b) OVER (ORDER BY pk) AS l, lead(b, 1, 0) OVER (ORDER BY pk) AS n FROM t
SELECT pk, sum(b) OVER (PARTITION BY a ORDER BY pk) AS s, avg(m) OVER (PARTITION BY a) AS m, avg(b) OVER (ORDER BY pk ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS q FROM t
SELECT pk, first(b) OVER (PARTITION BY a ORDER BY pk) AS f, last(b, true) OVER (PARTITION BY a ORDER BY pk) AS l, first_value(b) IGNORE NULLS OVER (PARTITION BY a ORDER BY pk) AS g FROM t
SELECT pk, ntile(3) OVER (ORDER BY pk) AS n, percent_rank() OVER (ORDER BY b, pk) AS p, cume_dist() OVER (ORDER BY b) AS c, nth_value(b, 2) OVER (ORDER BY pk) AS v FROM t
SELECT pk, a FROM t ORDER BY a, pk LIMIT 4
SELECT pk, a FROM t ORDER BY a DESC, pk LIMIT 4
SELECT pk, b FROM t ORDER BY b NULLS LAST, pk LIMIT 3 OFFSET 2
SELECT DISTINCT a FROM t
SELECT pk FROM t LEFT SEMI JOIN p ON t.a = p.c
SELECT pk FROM t LEFT ANTI JOIN p ON t.a = p.c
SELECT pk, k FROM t LEFT OUTER JOIN p ON t.a = p.c
SELECT pk, k FROM t FULL OUTER JOIN p ON t.a <=> p.c
SELECT pk, k FROM t CROSS JOIN p
SELECT pk FROM t WHERE a IN (SELECT c FROM p) AND EXISTS (SELECT 1 FROM p WHERE p.k = t.b)
SELECT a FROM t UNION SELECT c FROM p
SELECT a FROM t UNION ALL SELECT c FROM p
SELECT a FROM t EXCEPT SELECT c FROM p
SELECT a FROM t INTERSECT SELECT c FROM p
SELECT a FROM t MINUS SELECT c FROM p
WITH q AS (SELECT a, sum(b) AS s FROM t GROUP BY a) SELECT q.a, s FROM q WHERE s > 2
SELECT col1, col2 FROM VALUES (1, 'x'), (2, 'y')
SELECT u.i, u.n FROM VALUES (1, 'x'), (2, 'y') AS u(i, n)
SELECT id FROM range(3)
SELECT id FROM range(1, 7, 2)
SELECT * FROM (SELECT s, a, b FROM t) PIVOT (sum(a) FOR s IN ('a', 'b'))
SELECT * FROM (SELECT s, a, b FROM t) PIVOT (sum(a) AS q, count(*) AS n FOR s IN ('a' AS u, 'b'))
SELECT pk, n, v FROM (SELECT pk, a, b FROM t) UNPIVOT (v FOR n IN (a, b))
SELECT /*+ BROADCAST(p) */ pk, k FROM t JOIN p ON t.a = p.c
SELECT pk, a FROM t DISTRIBUTE BY a SORT BY pk
SELECT pk, (SELECT max(k) FROM p WHERE p.c = t.a) AS m FROM t
SELECT `t`.`pk` AS `the key`, `a` FROM `t`
SELECT pk, a + 1 AS u, u * 2 AS v FROM t
SELECT pk FROM t WHERE s RLIKE '^a' AND NOT (b <=> 2)
SELECT a, max(struct_free) AS z FROM (SELECT a, b AS struct_free FROM t) GROUP BY a
SELECT count(DISTINCT a, b) AS n FROM t
SELECT s, count(DISTINCT a, b) AS n FROM t GROUP BY s
SELECT pk, sort_array(collect_list(b) OVER (PARTITION BY a)) AS l FROM t
SELECT a, mode(a) AS m, array_size(array_agg(b)) AS l, any_value(a) AS v, bool_or(ok) AS o, stddev_samp(b) AS s, var_samp(x) AS vs, min(b) AS n FROM t GROUP BY a
SELECT a, percentile_cont(0.5) WITHIN GROUP (ORDER BY b) AS p, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) AS q, string_agg(s, ',') WITHIN GROUP (ORDER BY pk DESC) AS z FROM t GROUP BY a
SELECT pk, last_value(b) OVER (PARTITION BY a ORDER BY pk) AS l FROM t
SELECT pk, e FROM t LATERAL VIEW explode_outer(xs) AS e WHERE e > 1
SELECT pk, k, v FROM t LATERAL VIEW explode(map('p', a, 'q', b)) e AS k, v
SELECT pk, k, v FROM t LATERAL VIEW OUTER explode(CASE WHEN a > 1 THEN map(pk, s) END) e AS k, v
SELECT q.u, count(*) AS n FROM (SELECT named_struct('x', a, 'y', 1) AS u FROM t) q GROUP BY q.u
SELECT q.u.x, q.u.* FROM (SELECT named_struct('x', a, 'y', s) AS u FROM t) q
SELECT pk, p, e FROM t LATERAL VIEW posexplode_outer(xs) v AS p, e
SELECT a, sum(m * b) / sum(b) AS w FROM t GROUP BY a
SELECT avg(m * 1.5) AS p, avg(m / 3) AS q, sum(m / 7) AS r, sum(m) * 2 / 3 AS v FROM t
SELECT d, sum(m) OVER (ORDER BY d RANGE BETWEEN INTERVAL 30 DAYS PRECEDING AND CURRENT ROW) AS s FROM t WHERE d IS NOT NULL
SELECT date_trunc('MONTH', w) AS mo, count(*) AS n FROM t GROUP BY date_trunc('MONTH', w)
SELECT d, d + INTERVAL 1 MONTH AS e, datediff(d + INTERVAL 1 MONTH, d) AS n FROM t
WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY a ORDER BY w DESC) AS rn FROM t) SELECT pk FROM ranked WHERE rn = 1
SELECT pk, CASE WHEN m > 1 THEN m ELSE 0 END AS v, coalesce(m, 0) AS c, nvl(m, 1.234) AS e, m IN (1.25, 2) AS i FROM t
SELECT a, b, grouping_id() AS g, grouping_id(a, b) AS h, count(*) AS n FROM t GROUP BY CUBE (a, b)
SELECT a, covar_pop(b, x) AS q, covar_samp(b, x) AS r, percentile_approx(b, 0.5) AS u, approx_percentile(x, 0.25, 100) AS v FROM t GROUP BY a
SELECT pk, json_tuple(j, 'a', 'c') FROM t
SELECT json_tuple(j, 'a', 'c') AS (u, v), pk FROM t
"""  # noqa: E501
"""Queries, one a line."""
