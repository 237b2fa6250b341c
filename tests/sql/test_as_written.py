"""Views as people write them, against DuckDB after inserts and deletes: one program of many views."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

import pytest

from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.sql.translate import translate

from ..sqlpage import PAGE, page
from .duck import Both, bag, program_of

TABLES = """
CREATE TABLE t (pk INTEGER NOT NULL, a INTEGER, b INTEGER, s VARCHAR, x DOUBLE, m DECIMAL(6,2), d DATE, w TIMESTAMP);
CREATE TABLE p (c INTEGER, k INTEGER NOT NULL);
CREATE TABLE l (k INTEGER, xs INTEGER[], ss VARCHAR[], ds DATE[], ms DECIMAL(6,2)[], j JSON);
"""  # noqa: E501
VIEWS = r"""
SELECT SUM(CASE WHEN a IN (SELECT c FROM p) THEN 1 ELSE 0 END) AS x, SUM(CASE WHEN a IN (SELECT c + 1 FROM p) THEN 1 ELSE 0 END) AS y FROM t
SELECT b, SUM(CASE WHEN a IN (SELECT c FROM p) THEN 1 END) AS x, COUNT(DISTINCT CASE WHEN a IN (SELECT c + 1 FROM p) THEN 1 END) AS y FROM t GROUP BY b
SELECT b, SUM(a) FILTER (WHERE a > 1) AS x, COUNT(DISTINCT a) FILTER (WHERE a > (SELECT max(c) - 1 FROM p)) AS y FROM t GROUP BY ROLLUP (b)
SELECT pk, rank() OVER (PARTITION BY a IN (SELECT c FROM p) ORDER BY b IN (SELECT c + 1 FROM p), pk) AS r FROM t
SELECT pk, (a, b) < (2, 2) AS lt, ROW(a, b) <= ROW(1, NULL) AS le, (a, s) > (b, 'b') AS gt, (a, b) = (1, NULL) AS eq, (a, b) <> (1, 2) AS ne, (a, b) NOT IN ((1, 2), (3, NULL)) AS ni FROM t
SELECT t.pk, p.c FROM t LEFT JOIN p ON (t.a, t.b) = (p.c, p.k) WHERE (t.a, p.c) <> (1, 1)
SELECT a, b, sum(x) AS n, grouping_id(a, b) AS g FROM t GROUP BY CUBE (a, b)
SELECT t.pk, q.k FROM t ASOF LEFT JOIN (SELECT c, max(k) AS k FROM p GROUP BY c) q ON t.a >= q.c
SELECT k, json_type(j->'a') AS ty, 2 = ANY (xs) AS q, [2] <@ xs AS u, flatten([xs, [7]]) AS f FROM l
SELECT a, b, s FROM t ORDER BY ALL DESC LIMIT 3
SELECT pk FROM t ORDER BY pk OFFSET 1 ROW FETCH NEXT 3 ROWS ONLY
(SELECT pk FROM t ORDER BY pk DESC) LIMIT 1
((SELECT pk, s FROM t ORDER BY b DESC, pk LIMIT 4)) LIMIT 2 OFFSET 1
(SELECT pk FROM t UNION ALL SELECT k + 100 FROM p ORDER BY pk DESC) LIMIT 1
SELECT * FROM (SELECT * FROM t ORDER BY b * 2 DESC NULLS LAST, pk) LIMIT 2
SELECT -q.pk AS pk FROM (SELECT pk, a FROM t ORDER BY pk DESC) q WHERE a > 1 LIMIT 2
SELECT * FROM (SELECT pk AS order__0, a FROM t ORDER BY -pk) LIMIT 2
WITH o(x, y) AS (SELECT pk, s FROM t ORDER BY 1 DESC) SELECT y, x FROM o z LIMIT 2
WITH o AS (SELECT * FROM t ORDER BY b, pk), p AS (SELECT pk, s FROM o WHERE pk > 1) SELECT * FROM p LIMIT 2
WITH o AS (SELECT a, b FROM t GROUP BY a, b ORDER BY count(*) DESC, a, b) SELECT a FROM o LIMIT 1
WITH o AS (SELECT pk FROM t ORDER BY pk), t AS (SELECT 100 - k AS pk FROM p) SELECT * FROM o LIMIT 2
WITH o AS (SELECT k AS pk FROM p ORDER BY k DESC) SELECT x FROM (WITH p AS (SELECT 77 AS k) SELECT pk AS x FROM o LIMIT 1)
WITH o AS (SELECT pk FROM t LIMIT 2), t AS (SELECT k + 100 AS pk FROM p ORDER BY k) SELECT DISTINCT pk > 50 AS n FROM o
WITH t AS (SELECT * FROM t ORDER BY pk DESC) SELECT pk FROM t LIMIT 2
WITH o AS (SELECT pk, a FROM t ORDER BY pk DESC) SELECT pk FROM o AS z(a, pk) LIMIT 2
WITH o AS (SELECT * FROM t ORDER BY -pk) (SELECT pk FROM o) LIMIT 1
WITH o AS ((SELECT pk FROM t ORDER BY pk LIMIT 5) LIMIT 3 OFFSET 1) SELECT k, (SELECT x FROM (SELECT pk AS x FROM (SELECT * FROM o OFFSET 2))) AS z FROM p
SELECT k, (SELECT pk FROM (SELECT pk FROM t WHERE a = c ORDER BY b DESC, pk) LIMIT 1) AS x FROM p
SELECT k, (WITH q(x) AS (SELECT b FROM t WHERE a = c) SELECT count(*) FROM t p WHERE EXISTS (SELECT 1 FROM (SELECT x FROM q WHERE x < (SELECT max(z.x) FROM q z)) WHERE x = p.b)) AS n FROM p
SELECT pk FROM t WHERE pk IN (SELECT pk FROM (SELECT pk FROM t ORDER BY m DESC, pk) OFFSET 1)
SELECT count(*) AS n FROM (SELECT pk FROM t ORDER BY pk) LIMIT 1
SELECT pk, $$it's$$ AS d, E'a\n\x41\'' AS e, hex(s) AS g, to_hex(a - 2) AS h, lcm(a, b) AS i, CASE WHEN a - 1 THEN 1 ELSE 2 END AS c, NOT x AS n FROM t WHERE b
SELECT b, max(pk, 2) AS mx, min(m, 1) FILTER (WHERE b > 1) AS mn, arg_max(s, pk, 2) AS am, min_by(pk, pk, 2) AS an FROM t GROUP BY b
SELECT a, b FROM t UNION BY NAME SELECT k AS b, c AS a FROM p UNION ALL BY NAME SELECT k AS z, 2.5 AS a FROM p
SELECT pk, generate_series(1, a) AS q, unnest(range(b, 0, -2)) AS r, len(range(d, DATE '2020-12-31', INTERVAL 1 MONTH)) AS u FROM t
SELECT q.u, q.k FROM (t JOIN p ON a = c) AS q(u, a, v) WHERE q.v > 1
SELECT q.u, q.k FROM (t LEFT JOIN p ON a = c) AS q(u) WHERE q.k IS NULL
SELECT q.v, q.pk FROM (p RIGHT JOIN t ON a = c) AS q(u, v) WHERE q.pk > 2
SELECT t.pk, l.k FROM t JOIN l ON t.a = ANY(l.xs)
SELECT a, avg(w) AS q, median(d) AS r, quantile_cont(w, 0.3) AS u, avg(w) FILTER (WHERE b > 1) AS v FROM t GROUP BY a
SELECT k, q.x, q.n FROM l LEFT JOIN LATERAL UNNEST(xs) WITH ORDINALITY AS q(x, n) ON n < 3
SELECT m FROM t UNION SELECT b > 1 FROM t
SELECT k, contains(xs, 2) AS a, array_has_any([1, k], xs) AS b, list_sort(xs, 'DESC', 'NULLS FIRST') AS c, list_concat(NULL, NULL) AS e, array_position(xs, 2) AS f, list_last(ss) AS g, ss[1] ~* 'A' AS h FROM l
SELECT b, mean(a) AS m, sum(a) / count(a) AS z, fsum(x) AS f, list_first(list(pk ORDER BY pk)) AS g, strftime('%Y-%d', max(d)) AS h, make_timestamp(max(pk)) AS i FROM t GROUP BY b
SELECT k, ARRAY(SELECT s FROM t WHERE a = c ORDER BY b DESC, pk LIMIT 3) AS x, [(SELECT max(pk) FROM t WHERE a = c)] AS y FROM p
SELECT pk, k FROM t FULL JOIN p ON a = c AND k > (SELECT min(b) FROM t z WHERE z.a = c) AND pk NOT IN (SELECT c FROM p WHERE c > 2)
SELECT pk FROM t ANTI JOIN p ON b < k AND EXISTS (SELECT 1 FROM t z WHERE z.a = p.c AND z.pk <> t.pk)
SELECT q.pk, q.pk IN (b > 1, 3) AS x, COALESCE(s = 'a', a) AS y, (a > 1) = m AS z, CASE a > 1 WHEN 1 THEN a < 3 ELSE b END AS u, CAST(m AS BOOLEAN) AS v, CAST(a > 1 AS DECIMAL(4, 1)) AS w FROM (SELECT (pk), a, b, m, s FROM t) q
WITH RECURSIVE w(x, n) AS (SELECT a, 0 FROM t UNION ALL SELECT unnest([c, x, 1]), n + 1 FROM UNNEST([1, 1, 2]) q(e) JOIN w ON x = e JOIN p ON c = e WHERE n < 2) SELECT * FROM w
SELECT * FROM (SELECT b, m FROM t WHERE a > 2 AND b < 2) PIVOT (sum(m), count(*) FOR b IN (1))
SELECT k, (SELECT count(*) FROM (SELECT b FROM t WHERE a = c INTERSECT ALL SELECT a FROM t WHERE b > k)) AS n FROM p
SELECT a > 1 AS x FROM t EXCEPT ALL SELECT c FROM p
SELECT ANY_VALUE(a ORDER BY pk DESC) AS x, QUANTILE_CONT(b, 0.25 ORDER BY b DESC) AS y, MAP_FROM_ENTRIES([{'k': 'a', 'v': COUNT(*)}]) AS z, MAP() AS w FROM t
SELECT pk, u, v FROM t, (SELECT k + a AS u FROM p WHERE c = t.b) q LEFT JOIN (SELECT q.u + pk AS v) r ON v > 3
SELECT CASE WHEN a > b THEN 1 END AS x, COUNT(*) AS n FROM t GROUP BY CASE WHEN t.a > b THEN 1 END
SELECT pk, trunc(x * 7, 1) AS a, trunc(-x / 3, -1) AS b, trunc(m, 1) AS e, trunc(m, -2) AS f, date(w) AS g, dayofmonth(d) AS h, date_add(d, a) AS i FROM t
SELECT pk FROM t WHERE 1 IN ()
SELECT pk FROM t WHERE a NOT IN ()
SELECT pk FROM t WHERE a < 1 OR b IN (SELECT c FROM p WHERE k < 4)
SELECT pk, b IN (SELECT c FROM p) AS x, NOT (b IN (SELECT c FROM p)) AS y, (a, b) IN (SELECT c, k FROM p) AS z, (a, b) NOT IN (SELECT k, c FROM p) AS u FROM t
SELECT pk, m IN (SELECT c FROM p) AS x, x IN (SELECT c FROM p) AS y, x NOT IN (SELECT x FROM t) AS z FROM t
SELECT pk, a IN (SELECT c FROM p WHERE p.k <> t.b) AS x, a NOT IN (SELECT c FROM p WHERE k = b) AS y, a <> ALL (SELECT c FROM p WHERE k > b) AS z FROM t
SELECT pk FROM t WHERE (a, b) NOT IN (SELECT c, k FROM p)
SELECT a, stddev(x) AS q, variance(x) AS r, var_pop(x) AS u, stddev_pop(x) AS v FROM t GROUP BY a
SELECT a + 1 AS q, sum(q) AS u FROM t GROUP BY a
SELECT a, median(x) AS m, quantile_cont(b, 0.3) AS q, percentile_cont(0.25) WITHIN GROUP (ORDER BY x DESC) AS p FROM t GROUP BY a
SELECT median(x) AS m, quantile_disc(s, 0.5) AS q, quantile(b, 0.25) AS q2, percentile_disc(0.3) WITHIN GROUP (ORDER BY b DESC) AS p, percentile_disc(0.3) WITHIN GROUP (ORDER BY d) AS pd FROM t
SELECT a, string_agg(s, '-' ORDER BY pk DESC) AS l, string_agg(s, ',' ORDER BY b NULLS FIRST, pk) AS m, string_agg(s, ',' ORDER BY pk) FILTER (WHERE b > 1) AS n FROM t GROUP BY a
SELECT arg_min(pk, b * 1000000 + pk) AS x, arg_max(s, b * 1000000 + pk) AS y, min_by(d, pk) FILTER (WHERE a = 1) AS u, max_by(m, pk) AS v FROM t
SELECT a, mode(CASE WHEN b = 2 THEN 'x' ELSE 'y' END) AS o FROM t GROUP BY a HAVING count(*) % 2 = 1
SELECT DISTINCT ON (a) a, b, pk FROM t ORDER BY a, b DESC, pk
SELECT * EXCLUDE (w) REPLACE (a + 1 AS a, count(*) OVER (PARTITION BY b) AS s) RENAME (b AS bb) FROM t
SELECT pk, b FROM t QUALIFY row_number() OVER (PARTITION BY a, s ORDER BY b DESC NULLS FIRST, pk) <= 2
SELECT a, sum(b) AS m FROM t GROUP BY a, s QUALIFY row_number() OVER (PARTITION BY a ORDER BY sum(b) DESC, s) = 1
SELECT q.pk, (SELECT p.k FROM p WHERE p.c = q.a QUALIFY row_number() OVER (ORDER BY p.k) < 2) AS f FROM t q
SELECT DISTINCT ON (a, s) a, pk AS z FROM t ORDER BY a, s, z DESC
SELECT median(DISTINCT b) AS m FROM t
SELECT pk, log10(x) AS a, log2(x) AS b, log(3, x) AS c, sin(x) AS d, cbrt(x) AS e, degrees(x) AS f, pi() AS g, atan2(x, 2) AS h, isnan(x) AS i, isinf(x) AS j, isfinite(x) AS k FROM t
SELECT pk, split_part(s, ' ', 1) AS a, split_part(s, ' ', -1) AS b, translate(s, 'ac', 'x') AS c, chr(pk % 60 + 65) AS d, ascii(s) AS e, md5(s) AS f, sha256(s) AS g, levenshtein(s, 'ca') AS h, strlen(s) AS i FROM t
SELECT pk, a & b AS x, a | b AS y, xor(a, b) AS z, gcd(a * 6, b * 2) AS g, bit_count(b) AS c FROM t
SELECT pk, strftime(d, '%Y-%m/%d %a') AS a, strftime(w, '%H:%M:%S %j') AS b, last_day(d) AS c, dayname(d) AS e, monthname(w) AS f, epoch(w) AS g, isodow(d) AS h, weekofyear(w) AS i, strptime('2020-0' || a, '%Y-%m') AS j, make_date(2020, a, b) AS k FROM t
SELECT pk, '{"a": {"b": [1, 2.5, "x"]}, "c": null}' -> 'a' AS a, '{"a": {"b": [1, 2.5, "x"]}}' ->> '$.a.b[2]' AS b, json_extract('[1,{"k":' || a || '}]', '$[1].k') AS c, json_extract_string('{"z":"q"}', 'z') AS d, json_array_length('[1,2]') AS e, json_valid(s) AS f, '{"c": null}' ->> 'c' AS g FROM t
SELECT pk, printf('%d-%s %05d|%5.2f|%%', a, s, pk, x) AS p, printf('%s', d) AS q, format('{}-{:>5} {{}} {:.3f} {}', a, s, x, d) AS u, format('{1}{0}', s, pk) AS v, format('{:,}', a * 1000) AS w, format('{}', m) AS y FROM t
SELECT pk, s[1] AS a, s[-1] AS b, s[2:3] AS c, s[:-2] AS d, list_slice(s, 1, 2) AS e, array_slice(s, 2, pk) AS f, overlay(s PLACING 'é' FROM 2 FOR 1) AS g, overlay(s PLACING 'yz' FROM pk - 2 FOR 1 - pk) AS m, unicode(s) AS h, s GLOB '[a-c]*' AS i, s GLOB '?[! ]?' AS j, regexp_extract(s || 'É', '\w+$') AS k, prefix(s, 'a') AS l FROM t
SELECT pk, ~a AS x, b << 2 AS y, b >> 1 AS z FROM t WHERE z < 3 AND pk > 2
SELECT pk AS b, b AS k FROM t WHERE k > 2 AND b < 5
SELECT a, kurtosis(b) AS k, kurtosis_pop(x) AS l, mad(x) AS n, entropy(s) FILTER (WHERE pk > 3) AS o, approx_count_distinct(b) AS q, list_skewness([a, pk, 7]) AS r FROM t GROUP BY a, pk % 2, pk
SELECT pk, date_sub('month', d, DATE '2024-03-31') AS a, datesub('week', DATE '2024-03-31', d) AS b, date_sub('decade', w, TIMESTAMP '2044-02-29') AS c, date_diff('week', d, DATE '2024-02-01') AS e, date_diff('century', w, DATE '1999-01-01') AS f, date_diff('milliseconds', w, d) AS g, date_sub('hour', w, d) AS h FROM t
SELECT pk, date_trunc('decade', d) AS a, date_trunc('isoyear', w) AS b, date_trunc('hours', w) AS c, extract(isoyear FROM d) AS e, yearweek(w) AS f, datepart('mon', d) AS g, millisecond(w) AS h, millennium(d) AS i, epoch_us(w) AS j, epoch_ms(d) AS k, era(d) AS l, weekday(w) AS n, make_timestamp(2024, a, b, 3, 4, 5.5) AS o, make_time(a, b, 2.25) AS p FROM t
SELECT a, array_agg(DISTINCT s ORDER BY s) AS x, list(DISTINCT b ORDER BY b NULLS FIRST) AS y, list(DISTINCT b ORDER BY b DESC) AS z FROM t GROUP BY a
SELECT k, j.a AS a, j.b AS b, l.j.a AS c FROM l WHERE j.a IS NOT NULL
SELECT pk FROM t WHERE s SIMILAR TO '(a|c).*' OR s NOT SIMILAR TO '[a-c ]*'
SELECT k, list_aggregate(xs, 'sum') AS a, list_aggr(xs, 'max') AS b, list_product(xs) AS c, list_histogram(ss) AS d, list_aggregate(xs, 'avg') AS e FROM l
SELECT k, list_reduce(xs, lambda u, v: u * 2 + v) AS a, list_reduce(xs, lambda u, v: u + v, 10) AS b FROM l WHERE len(xs) > 0
SELECT a, product(b) AS p, product(b) FILTER (WHERE b > 1) AS q, histogram(s) AS h, quantile_cont(x, [0.25, 0.5]) AS c, quantile_disc(b, [0.5, 1]) FILTER (WHERE b > 1) AS u, percentile_cont([0.1]) WITHIN GROUP (ORDER BY x DESC) AS v FROM t GROUP BY a
SELECT a, covar_pop(x, b) AS p, covar_samp(b, m) AS q, corr(b, m) FILTER (WHERE pk > 5) AS u, regr_slope(b, x) AS v, regr_intercept(b, m) AS w, regr_r2(x, b) AS y, regr_count(b, x) AS z FROM t GROUP BY a
SELECT regr_avgx(b, m) AS p, regr_avgy(b, m) AS q, regr_sxx(b, m) AS u, regr_syy(b, m) AS v, regr_sxy(b, m) AS w, regr_count(b, m) FILTER (WHERE b > 1) AS x, product(a) AS y FROM t WHERE pk < 9
SELECT pk, product(b) OVER (PARTITION BY a ORDER BY pk) AS p, corr(b, m) OVER (PARTITION BY a) AS q, regr_count(b, m) OVER (ORDER BY pk) AS u, quantile_cont(b, [0.5]) OVER (PARTITION BY a) AS v FROM t
SELECT pk, COLUMNS('^[ab]$') + 1, COLUMNS(* EXCLUDE (x, w, pk)) FROM t
SELECT a, sum(COLUMNS(['pk', 'b'])), max(COLUMNS('^(s|d)$')) AS u FROM t GROUP BY a
SELECT i FROM generate_series(1, 5) g(i)
SELECT range AS r, pk FROM range(3), t
SELECT t.pk, g.i FROM t, generate_series(1, t.a) g(i)
SELECT t.pk, g.i FROM t LEFT JOIN range(2, t.a + 1) g(i) ON TRUE
SELECT CAST(g.d AS DATE) AS d, count(pk) AS n FROM generate_series(DATE '2020-01-01', DATE '2020-03-05', INTERVAL 1 MONTH) AS g(d) LEFT JOIN t ON date_trunc('month', t.w) = g.d GROUP BY g.d
SELECT t.pk, z.n FROM t, LATERAL (SELECT count(*) AS n FROM p WHERE p.c = t.a) z
SELECT t.pk, z.k FROM t CROSS JOIN LATERAL (SELECT k FROM p WHERE p.c <= t.a ORDER BY c DESC, k LIMIT 1) z
SELECT t.pk, z.k FROM t LEFT JOIN LATERAL (SELECT k FROM p WHERE p.c <= t.a ORDER BY c DESC, k LIMIT 1) z ON TRUE
SELECT t.pk, z.k, y.q FROM t LEFT JOIN LATERAL (SELECT k FROM p WHERE p.c = t.a) z ON z.k > 0 JOIN LATERAL (SELECT z.k + t.b AS q) y ON TRUE
SELECT t.pk, (SELECT sum(i) FROM generate_series(1, t.a) g(i)) AS s FROM t
SELECT g.i, z.n FROM generate_series(1, 3) g(i) JOIN t ON t.a = g.i, LATERAL (SELECT max(k) AS n FROM p WHERE c = g.i) z
SELECT pk, q.* FROM t, LATERAL (SELECT a + 1 AS u, b * 2 AS v) q WHERE q.u > 1
SELECT t.pk, g.i, max(m) OVER (PARTITION BY s) AS x FROM t LEFT JOIN LATERAL (SELECT i FROM range(t.a) g(i)) g ON TRUE
SELECT t.pk, p.k FROM t ASOF JOIN p ON t.a >= p.c
SELECT t.pk, p.k, p.c FROM t ASOF LEFT JOIN p ON p.k <= t.b AND p.c = t.a
SELECT t.pk, u.pk AS n FROM t ASOF JOIN t u ON t.a = u.a AND t.pk < u.pk
SELECT t.pk FROM main.t WHERE a IN (SELECT c FROM main.p)
SELECT k, xs, ss FROM l
SELECT k, xs[1] AS a, xs[-1] AS b, xs[k] AS c, xs[2:3] AS d, xs[:2] AS e, xs[2:] AS f, ss[1] AS g, ds[1] AS h, ms[1] + 1 AS i FROM l
SELECT k, [1, k, NULL] AS a, [] AS b, [ds[1], NULL] AS c, [1.5, 2] AS d, len(xs) AS e, array_length(xs) AS f FROM l
SELECT k, x FROM l, unnest(l.xs) AS u(x)
SELECT k, u.x FROM l LEFT JOIN unnest(l.ds) AS u(x) ON TRUE
SELECT k, unnest(xs) AS x FROM l
SELECT k, unnest(xs) AS x, unnest(ss) AS s, unnest([1,2]) AS y FROM l
SELECT k, x, s FROM l, LATERAL (SELECT unnest(l.xs) AS x, unnest(l.ss) AS s) z
SELECT x FROM unnest([3, NULL, 1]) AS u(x)
SELECT a, list(b ORDER BY b) AS l1, array_agg(s ORDER BY s DESC, pk) AS l2, list(DISTINCT b ORDER BY b DESC) AS l3, list(pk ORDER BY pk) FILTER (WHERE b > 2) AS l4, list(d ORDER BY d NULLS FIRST) AS l5 FROM t GROUP BY a
SELECT list(pk ORDER BY pk) AS x, len(list(m)) AS y FROM t
SELECT a, list_sort(list(x)) AS y FROM t GROUP BY a
SELECT k, list_contains(xs, 2) AS a, list_position(xs, 1) AS b, list_sort(xs) AS c, list_reverse_sort(xs) AS d, list_sort(list_distinct(xs)) AS e, list_sum(xs) AS f, list_min(ds) AS g, list_max(ms) AS h, list_avg(ms) AS i, list_sum(ms) AS j, list_count(xs) AS m, list_unique(xs) AS n FROM l
SELECT k, xs || [9] AS a, list_concat(xs, [k]) AS b, list_append(xs, NULL) AS c, list_prepend(k, xs) AS d, list_has_any(xs, [2]) AS e, list_has_all(xs, [2, 1]) AS f, list_extract(xs, 2) AS g, list_slice(xs, 1, 2) AS h, list_reverse(xs) AS i, concat(xs, [k], NULL) AS j, string_split('a1', nullif('' || k, '1')) AS m FROM l
SELECT k, list_transform(xs, lambda x: x + k) AS a, list_filter(xs, lambda y: y > 1) AS b, [z * 2 FOR z IN xs IF z > 1] AS c, list_transform(ds, lambda d: year(d)) AS d, list_transform(xs, lambda x: [x]) AS e, list_transform(ms, lambda m: m * 2) AS f FROM l
SELECT k, array_to_string(xs, '-') AS a, array_to_string(ss, ',') AS b, string_split('a b  c', ' ') AS c, CAST(xs AS VARCHAR) AS d, CAST(ds AS VARCHAR) AS e, CAST(ss AS VARCHAR) AS f, xs::DOUBLE[] AS g, ms::VARCHAR AS h FROM l
SELECT xs, count(*) AS n, min(k) AS m FROM l GROUP BY xs
SELECT DISTINCT ss FROM l
SELECT l1.k, l2.k AS k2 FROM l l1 JOIN l l2 ON l1.xs = l2.xs
SELECT xs FROM l UNION SELECT [a, b] FROM t
SELECT k, CASE WHEN k > 50 THEN xs ELSE [] END AS c, coalesce(xs, [0]) AS d, xs IS NULL AS e, xs IN ([1], [2]) AS f FROM l
SELECT k, (SELECT sum(x) FROM unnest(l.xs) AS u(x)) AS s, (SELECT list(a ORDER BY a) FROM t WHERE t.a = l.k % 4) AS q FROM l
SELECT s, unnest(list(DISTINCT a)) AS x FROM t GROUP BY s
SELECT k, [[1], xs] AS a, [[1], xs][2][1] AS b FROM l
SELECT x, count(*) AS n FROM (SELECT unnest(xs) AS x FROM l) q GROUP BY x HAVING count(*) > 1
PIVOT t ON s IN ('a','b') USING sum(a) AS x, count(*) AS n GROUP BY b
PIVOT (SELECT s, a, b FROM t) ON s IN ('a','b') USING sum(a)
SELECT * FROM (SELECT s, a, b FROM t) PIVOT (sum(a) AS x, max(a) AS y FOR s IN ('a' AS q,'b', NULL)) ORDER BY b
SELECT * FROM (SELECT s, a, b FROM t) PIVOT (count(*) FOR s IN ('a','b')) AS pp
SELECT pp.b, z.c FROM (SELECT s, a, b FROM t) PIVOT (sum(a) FOR s IN ('a','b')) AS pp JOIN p z ON z.c = pp.b
PIVOT (SELECT s,a,b FROM t) ON s IN ('a','b'), b IN (2,5) USING sum(a)
PIVOT (SELECT s,a,b FROM t)  ON b IN (2,5)
SELECT pk, n, v FROM t UNPIVOT (v FOR n IN (a, b AS bb))
UNPIVOT (SELECT pk,a,b FROM t) ON a, b INTO NAME n VALUE v
UNPIVOT (SELECT pk,a,m FROM t) ON a, m
SELECT pk, v, n FROM t UNPIVOT INCLUDE NULLS (v FOR n IN (a, b))
SELECT n, sum(v) AS s FROM (UNPIVOT (SELECT pk,a,b FROM t) ON a, b INTO NAME n VALUE v) q GROUP BY n
WITH z AS (PIVOT t ON a IN (1, 2) USING max(m) GROUP BY s) SELECT * FROM z
SELECT * FROM (SELECT s, a, b FROM t WHERE a > 100) PIVOT (sum(a), count(*) FOR s IN ('a'))
WITH w AS (SELECT s, a FROM t) SELECT * FROM w PIVOT (count(*) AS n, sum(a) FOR s IN ('a'))
SELECT k, j -> 'a' AS a, j ->> 'a' AS b, j ->> '$.b[1]' AS c, json_extract(j, '$.a') AS d, json_type(j) AS e, json_type(j, '$.a') AS f, json_array_length(j) AS g, json_keys(j) AS h, json_exists(j, '$.a') AS i, json_array_length(j, '$.b') AS l FROM l
SELECT k, CAST(j ->> 'a' AS INTEGER) AS a, TRY_CAST(j -> 'a' AS INTEGER) AS b, CAST(j AS VARCHAR) AS c, (j -> 'a') = '1' AS d, CAST('[1,2]' AS JSON) AS e, TRY_CAST(ss[1] AS JSON) AS f FROM l
SELECT k, json_object('k', k, 'x', xs, 'd', ds[1], 'j', j, 's', ss[1]) AS a, json_array(k, NULL, ss[1], 1.5, true) AS b, to_json(ss) AS c, to_json(ss[1]) AS d, to_json(ms) AS e, json_quote('a"b') AS f, k::JSON AS g, json('{ "a" : 1}') AS h FROM l
SELECT l.k, e.key, e.value, e.type FROM l, json_each(l.j) e
SELECT l.k, e.value ->> '$' AS v FROM l LEFT JOIN json_each(l.j) AS e ON e.key = 'a'
SELECT k % 3 AS m, json_group_array(k) AS a FROM (SELECT 5 AS k UNION ALL SELECT c FROM p) GROUP BY m
SELECT k, count(*) AS n FROM (SELECT j ->> 'a' AS k FROM l) GROUP BY k
SELECT json_group_object(k, s) AS o FROM (SELECT max(pk) AS k, s FROM t WHERE s = 'a' GROUP BY s)
SELECT j, count(*) AS n FROM l GROUP BY j
SELECT pk, row_number() OVER (PARTITION BY a ORDER BY pk) AS rn FROM t QUALIFY rn <= 2
SELECT pk, lag(b, 1, 0) OVER (ORDER BY pk) AS x, lead(b, 2, -1) OVER (PARTITION BY a ORDER BY pk) AS y FROM t
SELECT pk, sum(b) FILTER (WHERE a > 1) OVER (PARTITION BY s) AS x, count(*) FILTER (WHERE b IS NULL) OVER () AS y FROM t
SELECT pk, last_value(b IGNORE NULLS) OVER (ORDER BY pk) AS x, first_value(b IGNORE NULLS) OVER (PARTITION BY a ORDER BY pk) AS y FROM t
SELECT pk, lag(b IGNORE NULLS) OVER (ORDER BY pk) AS x FROM t
SELECT pk, lag(b, 0, 7 IGNORE NULLS) OVER (ORDER BY pk) AS x FROM t
SELECT pk, sum(b) OVER (ORDER BY pk RANGE BETWEEN 100000 PRECEDING AND CURRENT ROW) AS x FROM t
SELECT pk, sum(b) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS x FROM t
SELECT pk, avg(b) OVER (ORDER BY d RANGE BETWEEN INTERVAL 30 DAYS PRECEDING AND CURRENT ROW) AS x FROM t
SELECT pk, count(*) OVER (ORDER BY w RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND INTERVAL 1 HOUR FOLLOWING) AS x FROM t
SELECT pk, sum(b) OVER (PARTITION BY a ORDER BY s GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS x FROM t
SELECT pk, sum(b) OVER (PARTITION BY a ORDER BY pk ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS x FROM t
SELECT pk, string_agg(s, ',') OVER (PARTITION BY a ORDER BY pk) AS x FROM t
SELECT pk, list(b) OVER (PARTITION BY a ORDER BY pk) AS x FROM t
SELECT pk, stddev(x) OVER (PARTITION BY a) AS q FROM t
SELECT pk, median(b) OVER (PARTITION BY a) AS q FROM t
SELECT pk, bool_or(b > 2) OVER (PARTITION BY a) AS q FROM t
SELECT pk, count(DISTINCT b) OVER (PARTITION BY a) AS q FROM t
SELECT pk, arg_max(b, pk) OVER (PARTITION BY a) AS q FROM t
SELECT pk, any_value(b) OVER (PARTITION BY a) IS NULL AS q FROM t
SELECT a, sum(sum(b)) OVER (ORDER BY a) AS x, sum(b) * 100.0 / sum(sum(b)) OVER () AS y FROM t GROUP BY a
SELECT pk, sum(b) OVER (ORDER BY a DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS x, count(*) OVER (ORDER BY a DESC NULLS FIRST RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS y, min(b) OVER (ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) AS z FROM t
SELECT pk, sum(b) OVER (ORDER BY m RANGE BETWEEN 1.5 PRECEDING AND 0.25 FOLLOWING) AS x, sum(x) OVER (ORDER BY x RANGE BETWEEN 0.5 PRECEDING AND 1 FOLLOWING) AS y, count(b) OVER (ORDER BY m RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS z FROM t
SELECT pk, sum(b) OVER (PARTITION BY a ORDER BY s GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) AS x, sum(b) OVER (PARTITION BY a ORDER BY s RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS y, count(*) OVER (ORDER BY a GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS z FROM t
SELECT pk, max(b) OVER (ORDER BY d RANGE BETWEEN INTERVAL 3 MONTH PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS x, sum(b) OVER (ORDER BY w DESC RANGE BETWEEN INTERVAL 5 HOUR PRECEDING AND CURRENT ROW) AS y FROM t
SELECT pk, lag(s, 1, 'none') OVER (PARTITION BY a ORDER BY pk) AS x, lead(a, 1, b) OVER (ORDER BY pk) AS y, lag(pk, 1, pk) OVER (ORDER BY pk) AS z, lag(b, 0) OVER (ORDER BY pk) AS u, lag(b, 2, 7 IGNORE NULLS) OVER (ORDER BY pk) AS v FROM t
SELECT pk, nth_value(b, 2 IGNORE NULLS) OVER (PARTITION BY a ORDER BY pk) AS x, last_value(s IGNORE NULLS) OVER (ORDER BY pk ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS y FROM t
SELECT pk, string_agg(s, '-' ORDER BY pk DESC) OVER (PARTITION BY a) AS x, list(pk) FILTER (WHERE b > 1) OVER (ORDER BY pk ROWS 2 PRECEDING) AS y, quantile_cont(b, 0.5) OVER (PARTITION BY a ORDER BY pk) AS z, variance(b) OVER (ORDER BY pk ROWS 3 PRECEDING) AS v, count_if(b > 2) OVER (PARTITION BY a) AS u, bool_and(b > 1) OVER (PARTITION BY a ORDER BY pk) AS w FROM t
SELECT pk, avg(m) FILTER (WHERE b > 1) OVER (PARTITION BY a ORDER BY pk) AS x, avg(x) OVER (ORDER BY pk ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS y, first_value(b) OVER (ORDER BY pk ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS z FROM t
SELECT a, sum(count(*)) FILTER (WHERE a > 1) OVER (ORDER BY a) AS y FROM t GROUP BY a
SELECT pk, max(x) OVER (PARTITION BY a) AS y, min(x / (b - 2)) OVER (PARTITION BY s) AS z, max((x / 0) - (x / 0)) OVER () AS u FROM t
SELECT pk FROM t WHERE a = ALL (SELECT c FROM p WHERE k > 3)
SELECT pk FROM t WHERE a > ALL (SELECT c FROM p)
SELECT pk, a >= ANY (SELECT c FROM p) AS x, b < ALL (SELECT c FROM p WHERE k <> t.a) AS y, a <> ANY (SELECT c FROM p) AS z, a = ALL (SELECT k FROM p) AS u, b <= ANY (SELECT k FROM p WHERE k < 0) AS v, m > ANY (SELECT c FROM p) AS w FROM t
SELECT pk, x > ALL (SELECT m FROM t) AS x, s < ANY (SELECT s FROM t) AS y, d > ALL (SELECT d FROM t t2 WHERE t2.a = t.a AND t2.pk <> t.pk) AS z, a = ALL (SELECT c FROM p WHERE p.k = t.b) AS zz, (w - d) >= ALL (SELECT w - d FROM t) AS q FROM t
SELECT pk FROM t WHERE NOT (a < ANY (SELECT c FROM p WHERE c > 1)) OR b = ALL (SELECT c FROM p WHERE c = 2)
SELECT w - TIMESTAMP '2020-01-01' AS i, pk FROM t
SELECT max(w - TIMESTAMP '2020-01-01') AS i FROM t
SELECT DISTINCT w - TIMESTAMP '2020-01-01' AS i FROM t
SELECT a, min(w - d) AS i FROM t GROUP BY a
SELECT w - d AS i, count(*) AS n FROM t GROUP BY w - d
SELECT pk, w + INTERVAL 1 DAY + INTERVAL '2.5 hours' - INTERVAL '1.5 months' AS i FROM t
SELECT pk, w + INTERVAL '1 day 2 hours' AS i FROM t
SELECT pk, w + INTERVAL '1 day 02:03:04' AS i, DATE '2020-01-05'::TIMESTAMP AS j, TIME '10:00'::VARCHAR || 'h' AS k FROM t
SELECT pk, w + INTERVAL (a) DAY AS i FROM t
SELECT pk, w + a * INTERVAL 1 DAY AS i FROM t
SELECT pk, d + INTERVAL (a || ' days') AS i FROM t
SELECT pk, to_days(a) AS i, d + to_days(a) AS j FROM t
SELECT pk, extract(epoch FROM (w - d)) AS e, extract(hour FROM (w - d)) AS h, datediff('minute', d, w) AS dd FROM t
SELECT pk, time_bucket(INTERVAL '15 minutes', w) AS x, time_bucket(INTERVAL '1 month', d) AS y, time_bucket(INTERVAL 1 WEEK, d) AS z FROM t
SELECT pk, w - INTERVAL (a) HOUR AS x, (w - d) * 2 AS y, (w - d) / 2 AS z, 1.5 * (w - d) AS u, -(w - d) AS v, (w - d) + INTERVAL 1 DAY AS q, INTERVAL (b) MONTH AS r FROM t
SELECT pk, CAST(w - d AS VARCHAR) AS x, INTERVAL '14 months -3 days 25:00:01.5'::VARCHAR AS y, '3 days ago'::INTERVAL::VARCHAR AS z, (INTERVAL (-b) MINUTE)::VARCHAR AS u, (INTERVAL (a * 7) MONTH)::VARCHAR AS v FROM t
SELECT count(DISTINCT w - d) AS x, min(w - d) AS y FROM t
SELECT pk, regexp_replace(s, 'a', '[\0]') AS a, regexp_replace(s || 'a', '(a|b)', '<\1>', 'g') AS b, regexp_extract(s, '(a) ?(b?)', 1) AS c, regexp_extract(s, 'A', 0, 'i') AS d, regexp_extract_all(s || 'ab', '[ab]') AS e, regexp_full_match(s, '. .') AS f, regexp_split_to_array(s, ' ') AS g, string_split_regex('a1b22c', nullif('\d', CASE a WHEN 1 THEN '\d' END)) AS h, string_split_regex(s, NULL) AS j, regexp_matches(s, 'B', 'i') AS i FROM t
SELECT a, first(s ORDER BY pk) AS f, last(b ORDER BY pk DESC) AS l, first(pk ORDER BY pk) FILTER (WHERE b > 2) AS g, last(d ORDER BY m NULLS FIRST, pk) AS h FROM t GROUP BY a
SELECT a, bit_and(b) AS x, bit_or(b) AS y, bit_xor(b) AS z FROM t GROUP BY a
SELECT bit_and(pk) AS x, bit_or(b) FILTER (WHERE b > 100) AS y, CAST(2.5::DOUBLE AS DECIMAL(2, 0)) AS z FROM t
SELECT w - d AS x FROM t UNION SELECT INTERVAL (k) DAY FROM p
SELECT w - d AS x FROM t EXCEPT SELECT INTERVAL (k) DAY FROM p
SELECT pk FROM t WHERE w - d > INTERVAL '10 days' AND (w - d) IN (SELECT w - d FROM t)
SELECT pk, max(w - d) OVER (PARTITION BY a) AS x, age(d, DATE '2000-02-29') AS y, age(DATE '2000-02-29', w) AS z, rank() OVER (ORDER BY w - d) AS r FROM t
SELECT DISTINCT ON (a) b % 2 AS a, -pk AS pk FROM t ORDER BY a, pk
SELECT DISTINCT ON (2) pk, a FROM t ORDER BY 2, 1 DESC
SELECT DISTINCT ON (a) a, b, pk FROM t ORDER BY ALL
SELECT DISTINCT ON (a, n) count(*) AS n, a, max(pk) AS pk FROM t GROUP BY a, b ORDER BY n, a, pk DESC
SELECT pk, sum(b) OVER (ORDER BY 1) AS x, rank() OVER (PARTITION BY 1 ORDER BY 1, pk) AS r FROM t
SELECT q.a AS qa, t.a AS ta, a AS x, count(*) AS n FROM (SELECT c AS a FROM p) q FULL JOIN t USING (a) GROUP BY ALL
SELECT t.pk, q.a AS qa, t.*, a AS x FROM t RIGHT JOIN (SELECT c AS a FROM p) q USING (a) WHERE t.a IS NULL
SELECT pk, q.a AS qa, u.a AS ua, t.a AS ta, a FROM t LEFT JOIN (SELECT c AS a FROM p) q USING (a) FULL JOIN (SELECT k AS a FROM p) u USING (a)
SELECT z.a AS v FROM (t NATURAL FULL JOIN (SELECT k AS a FROM p)) AS z
SELECT l.k, t.pk, p.c FROM l, t RIGHT JOIN p ON t.a = p.c
SELECT l.k AS lk, t.pk, p.k AS pk2, q.c FROM l, t FULL JOIN p ON t.a = p.c AND p.k > 0, p q LEFT JOIN l m ON q.k = m.k
SELECT u.c AS uc, p.c, l.k FROM p u, l JOIN p USING (k)
SELECT u.c AS uc, p.c, t.pk FROM p u, l JOIN p USING (k) LEFT JOIN t ON t.a = u.c AND t.b > p.c
SELECT COLUMNS('^(pk|k|c)$'), max(COLUMNS(['a', 'c'])) OVER () AS m FROM t FULL JOIN p ON t.a = p.c
SELECT t.pk, x.c, x.k FROM t LEFT JOIN (p x JOIN p y ON x.c = y.c AND x.k IN (SELECT l.k FROM l WHERE l.k > y.k)) ON t.a = x.c
SELECT x.c, y.k FROM (p x JOIN p y ON x.c = y.c AND EXISTS (SELECT 1 FROM t WHERE a > y.k)) LEFT JOIN l ON l.k = y.k
SELECT a, count(DISTINCT (b, s)) AS n, count(DISTINCT (b, m)) FILTER (WHERE pk % 2 = 0) AS k FROM t GROUP BY a
SELECT a, string_agg(s, chr(10) || '-' ORDER BY s, pk) AS j FROM t GROUP BY a
SELECT pk, to_json(m) AS x, json_object('m', m * 1000000000000000000) AS y, to_json(CAST(m / 1000000 AS DECIMAL(12, 8))) AS z FROM t
SELECT pk, epoch(INTERVAL (a * 7) MONTH) AS e, epoch(INTERVAL (-b * 5) MONTH) AS f, strftime(w, '%n') AS n FROM t
SELECT pk, time_bucket(INTERVAL '2 days', w, TIMESTAMP '2020-01-02 03:00:00') AS x, time_bucket(INTERVAL '7 months', d, DATE '2020-03-05') AS y FROM t
SELECT pk, (~a) + 1 AS x, ~(a + 1) AS y, ~a & 1 AS z FROM t
SELECT pk, date_add(d, INTERVAL (a) MONTH) AS x, epoch(w - d) AS y, extract(day FROM (w - d)) AS z, extract(month FROM INTERVAL (a * 7) MONTH) AS u FROM t
"""  # noqa: E501


def rows(chosen: random.Random, count: int) -> list[tuple[object, ...]]:
    """Rows of `t`."""

    def one(*values: object) -> object:
        return chosen.choice([None, *values])

    return [
        (
            chosen.randrange(10**6),
            one(1, 2, 3),
            one(1, 2, 5, 7),
            one("a", "b", "c a"),
            one(0.5, 2.25, 1.125),
            one(Decimal("1.25"), Decimal("2.00"), Decimal(3)),
            one(datetime.date(2020, chosen.randint(1, 12), 3), datetime.date(2019, 12, 31)),
            one(datetime.datetime(2020, 2, 1, chosen.randrange(24), 5)),
        )
        for _ in range(count)
    ]


def lists(chosen: random.Random, count: int) -> list[tuple[object, ...]]:
    """Rows of `l`."""

    def one(*values: object) -> object:
        return chosen.choice([None, chosen.choices([None, *values], k=chosen.randrange(5))])

    return [
        (
            chosen.randrange(100),
            one(1, 2, 3),
            one("a", "b c", "ä"),
            one(datetime.date(2020, 1, 2), datetime.date(1999, 12, 31)),
            one(Decimal("1.25"), Decimal(2)),
            chosen.choice(
                [None, "[1,null]", '{"a":1,"b":[2,"x"]}', '{"a":"7"}', "2.50", '"s"', '[{"é":true}]']
            ),
        )
        for _ in range(count)
    ]


def test_views_are_those_of_duckdb() -> None:
    views = {f"v{number}": query for number, query in enumerate(VIEWS.strip().splitlines())}
    both, chosen, held = Both(TABLES, views), random.Random(5), list[tuple[object, ...]]()
    pairs: list[tuple[object, ...]] = []
    listed: list[tuple[object, ...]] = []
    for step in range(4):
        gone = {"t": [row for row in held if chosen.random() < 0.4], "p": pairs[:step], "l": listed[step:]}
        come = {"t": rows(chosen, 8), "p": [(chosen.choice([None, 1, 2, 3]), step) for _ in range(3 - step)]}
        come["l"] = lists(chosen, 6)
        listed = listed[:step] + come["l"]
        held = [row for row in held if row not in gone["t"]] + come["t"]
        pairs = pairs[step:] + come["p"]
        both.change(come, gone)
        assert both.differences() == []


def refusal(query: str) -> str:
    """The first error for a view, with the text that it points at."""
    text = f"{TABLES}CREATE VIEW v AS {query};"
    with pytest.raises(DDlogError) as found:
        translate(Source("v.sql", text))
    first = found.value.diagnostics[0]
    assert first.span is not None
    line = text.splitlines()[first.span.line - 1]
    return f"{first.message}: {line[first.span.column - 1 : first.span.end_column - 1]}"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT sem(a) FROM t", "the function SEM is not supported: sem(a"),
        (
            "WITH RECURSIVE w AS (SELECT xs FROM l UNION ALL SELECT [e] FROM w, UNNEST(xs) q(e)) FROM w",
            "rows made of columns in FROM, in the recursive part of a query with UNION ALL is not supported: "
            "UNNEST(xs) q(e",
        ),
        (
            "SELECT to_char(w, 'YYYY Month') FROM t",
            "the pattern YYYY Month of TO_CHAR is not supported: there are YYYY, YY, MM, DD, DDD, HH, HH12, "
            "HH24, MI, SS, MS, US, AM, PM, Mon, Dy, FMMonth, FMDay: to_char(w, 'YYYY Month'",
        ),
        (
            "SELECT s SIMILAR TO '(a|b)!%' ESCAPE '!' FROM t",
            "ESCAPE of another operator than LIKE, or of several letters is not supported: "
            "s SIMILAR TO '(a|b)!%' ESCAPE '!'",
        ),
        (
            "SELECT * FROM TUMBLE(t, s, INTERVAL 1 HOUR)",
            "TUMBLE by `s` is not defined for VARCHAR: s",
        ),
        (
            "SELECT * FROM jsonb_array_elements(s)",
            "the table function JSONB_ARRAY_ELEMENTS(s) is not supported: write FROM JSON_EACH(x) q: q.value"
            ": jsonb_array_elements(s",
        ),
        (
            "SELECT m // 2 FROM t",
            "// of other numbers than integers is not supported: write FLOOR(x / y) or TRUNC(x / y): m // 2",
        ),
        (
            "SELECT format(s, a) FROM t",
            "the function FORMAT of a text that is not a constant is not supported: format(s, a",
        ),
        (
            "SELECT format('{} {}', a) FROM t",
            "'{} {}' has a place for an argument 2: there is none: format('{} {}', a",
        ),
        ("SELECT printf('%d', s) FROM t", "`d` does not write a VARCHAR: s"),
        ("SELECT COLUMNS('zz') FROM t", "COLUMNS means no column: COLUMNS('zz'"),
        ("SELECT pk FROM t WHERE COLUMNS(*) > 1", "the function COLUMNS is not supported: COLUMNS(*"),
        (
            "SELECT list_aggregate([a], 'sem') FROM t",
            "the function LIST_AGGREGATE of something else than avg, count, entropy, histogram, kurtosis, "
            "kurtosis_pop, mad, max, mean, min, product, skewness, sum is not supported: "
            "list_aggregate([a], 'sem'",
        ),
        (
            "SELECT a FROM t WHERE a > NOW()",
            "a comparison is not defined for INTEGER and TIMESTAMP: a > NOW",
        ),
        ("SELECT soundex(s) FROM t", "the function SOUNDEX is not supported: soundex(s"),
        (
            "SELECT a FROM t POSITIONAL JOIN p",
            "a join of the kind POSITIONAL is not supported: rows have no order, so none is beside another: "
            "POSITIONAL JOIN p",
        ),
        (
            "SELECT lag(b) FILTER (WHERE a > 1) OVER (ORDER BY pk) FROM t",
            "FILTER of LAG is not supported: lag(b) FILTER (WHERE a > 1) OVER (ORDER BY pk",
        ),
        (
            "SELECT sum(b) OVER (ORDER BY pk RANGE BETWEEN a PRECEDING AND CURRENT ROW) FROM t",
            "a frame whose end is not a constant is not supported: a",
        ),
        (
            "SELECT sum(b) OVER (ORDER BY s RANGE 1 PRECEDING) FROM t",
            "a frame of VARCHAR is not defined for INTEGER: 1",
        ),
        ("SELECT max(b, 2) OVER () FROM t", "MAX of several values is not supported: max(b, 2"),
        (
            "SELECT pk FROM t WHERE (a, b) = ALL (SELECT c, k FROM p)",
            "this comparison of rows is not supported: IN and <> ALL are such of equal rows: c, k FROM p",
        ),
        ("SELECT isnan(s) FROM t", "the function ISNAN is not defined for VARCHAR: s"),
        (
            "PIVOT t ON s USING sum(a)",
            "PIVOT without IN and a list is not supported: the columns of a view are known before its rows: "
            "PIVOT t ON s USING sum(a",
        ),
        ("SELECT min(zz) AS zz FROM t", "unknown column `zz`: zz"),
        ("SELECT arg_max(a) FROM t", "the function ARG_MAX takes two arguments: arg_max(a"),
        ("SELECT regr_count(a) FROM t", "REGR_COUNT takes two arguments: regr_count(a"),
        ("SELECT arg_max() FROM t", "the expression ARG_MAX() takes an argument: t"),
        ("SELECT count(DISTINCT *) FROM t", "COUNT(DISTINCT *) is not supported: count(DISTINCT *"),
        (
            "SELECT string_agg(s, s) FROM t",
            "a separator that is not a constant is not supported: s",
        ),
        (
            "SELECT ~a + 1 FROM t",
            "`~` before arithmetic without parentheses is not supported: write (~x) + 1 or ~(x + 1): a",
        ),
        (
            "SELECT regexp_extract(s, '(a)', ['x']) FROM t",
            "the function REGEXP_EXTRACT is not defined for VARCHAR[]: 'x'",
        ),
        (
            "SELECT pk FROM p, LATERAL (SELECT c + 1 AS c) q RIGHT JOIN t ON a = q.c",
            "a RIGHT or FULL join with LATERAL is not supported: LATERAL (SELECT c + 1 AS c) q",
        ),
        ("SELECT pk FROM l, p RIGHT JOIN t ON l.k = a", "unknown table `l`: l.k"),
        ("(SELECT pk FROM t) WHERE pk > 1", "WHERE pk > 1 here is not supported: WHERE pk > 1"),
        (
            "SELECT pk FROM t LEFT UNION ALL BY NAME SELECT k FROM p",
            "LEFT here is not supported: pk FROM t LEFT UNION ALL BY NAME SELECT k FROM p",
        ),
        (
            "SELECT a FROM t GROUP BY DISTINCT a",
            "GROUP BY ALL or DISTINCT with keys is not supported: DISTINCT a",
        ),
        (
            "SELECT * FROM TUMBLE(t, w, INTERVAL 1 MONTH, INTERVAL 3 DAY)",
            "TUMBLE takes a table, a column, the length and, maybe, an offset: "
            "constant intervals, of months alone or of none: t, w",
        ),
    ],
)
def test_errors_name_what_stands_there(query: str, error: str) -> None:
    assert refusal(query) == error


def test_a_select_has_columns_of_arrow_with_all_doubles() -> None:
    text = "CREATE TABLE r (x DOUBLE); CREATE VIEW v AS SELECT x, x / 0 AS y FROM r;"
    with program_of(text).session() as session:
        session.insert("r", (float("inf"),), (float("nan"),), (None,))
        session.commit()
        for found in (session["v"], session.select("SELECT x, y FROM v")):
            xs = found.to_arrow().column("x").to_pylist()
            assert sorted(map(str, xs)) == ["None", "inf", "nan"]
            assert len(found.to_pandas()) == 3


@pytest.mark.parametrize("test", ["b IN", "b = ALL", "b > ANY", "NOT b <= ALL"])
def test_subqueries_under_or_cost_what_the_table_has(test: str) -> None:
    """The same for four times the rows takes not sixteen times as long: by the rows that are held."""
    query = f"SELECT pk FROM t WHERE a < 10 OR {test} (SELECT c FROM p WHERE k < 500)"
    with program_of(f"{TABLES}CREATE VIEW v AS {query};").session(relations="all") as session:
        chosen = random.Random(1)
        session.insert("t", *((i, 20, chosen.choice([None, i]), *[None] * 5) for i in range(400)))
        session.insert("p", *((chosen.choice([None, i]), i) for i in range(400)))
        session.commit()
        assert max(len(session[each].stored) for each in session.program.names("internal")) <= 400


CALLS = """countif(a > 1, b); log2(); rank(ORDER BY a) OVER (ORDER BY b); nth_value(a, 2, true) OVER ();
first_value(a ORDER BY b) OVER (PARTITION BY s); any_value(a ORDER BY b) OVER (PARTITION BY s);
kurtosis_pop(); floor(); row_number(a) OVER (); mod(a, 2, 3); hex(a, b); strptime(s, '%Y', s);
date_trunc('day', w, s); max_by(a, b, 1, 2); quantile_cont(a, 0.5, 1); mode(a, b); map([1], [2],
[3]); left(s, 1.5); lpad(s, x, '-'); s[m]; floor(x, 1); instr(s, 'a', 2); array_slice([1], 1, 2, 1);
week(d, 1); length(s, 'x'); split(s, 'a', 2); regexp_matches(s, 'a', 'q'); round(x, 1, 2); first(s);
to_days(); substr(s); json_object(a); list_contains([1], 1, 1); substring(s, 1, 2, 3);
time_bucket(INTERVAL 1 DAY, w, 'UTC'); coalesce(*COLUMNS('a|b')); unnest([[1]], recursive := true);
sum(a) WITHIN GROUP (ORDER BY b); list(a IGNORE NULLS); w::TIMESTAMP(0);
json_object('a': a ABSENT ON NULL)"""


@pytest.mark.parametrize("call", CALLS.replace("\n", " ").split("; "))
def test_no_argument_is_left_out(call: str) -> None:
    with pytest.raises(DDlogError, match=r"supported|takes|not SQL|not defined"):
        translate(Source("v.sql", f"{TABLES}CREATE VIEW v AS SELECT {call} AS x FROM t;"))


WINDOWS = {
    "TUMBLE(t, w, INTERVAL '7' MINUTE)": (7 * 60, 7 * 60, "w"),
    "TABLE(HOP(TABLE t, DESCRIPTOR(w), INTERVAL 40 SECOND, INTERVAL 100 SECOND)) AS t": (40, 100, "w"),
    "HOP((SELECT * FROM t), d, INTERVAL 36 HOUR, INTERVAL 12 HOUR) AS t": (36 * 3600, 12 * 3600, "d"),
}
"""Tables with windows of time: the seconds of steps, and of lengths, and the column of times."""


def test_rows_are_in_the_windows_that_contain_their_times() -> None:
    both, chosen = Both(TABLES, {"v": "SELECT 1"}), random.Random(7)
    for number, (text, (step, length, by)) in enumerate(WINDOWS.items()):
        first, last = f"epoch({by}) - {length}", f"epoch({by})"
        starts = f"generate_series((floor(({first}) / {step})::BIGINT + 1), floor({last} / {step})::BIGINT)"
        start = f"make_timestamp(n * {step} * 1000000)"
        inner = f"(SELECT pk, unnest({starts}) AS n FROM t)"
        duck = f"SELECT pk, {start} AS b, {start} + to_seconds({length}) FROM {inner}"
        both.add(f"w{number}", f"SELECT t.pk, window_start, window_end FROM {text}", duck)
    held = rows(chosen, 30)
    both.change({"t": held}, {})
    both.change({"t": rows(chosen, 5)}, {"t": held[::2]})
    assert both.differences() == []
    for number, text in enumerate(WINDOWS):
        asked = both.session.select(f"SELECT t.pk, window_start, window_end FROM {text}")
        assert bag(asked.rows) == bag(both.duck.execute(both.views[f"w{number}"]).fetchall())


def test_the_page_of_functions_is_that_of_the_tables() -> None:
    text = page()
    assert PAGE.read_text() == text, "python -m tests.sqlpage writes it anew"
    assert all(f"`{name}`" in text for name in ("MEDIAN", "STRFTIME", "LOG10", "ROW_NUMBER", "JSON_VALID"))


def test_tables_and_views_have_schemas() -> None:
    text = """CREATE SCHEMA bronze; CREATE TABLE bronze.src (k INTEGER PRIMARY KEY);
    CREATE TABLE src (x INTEGER REFERENCES bronze.src (k)); INSERT INTO bronze.src VALUES (1);
    CREATE VIEW silver.w AS SELECT src.k FROM bronze.src; CREATE VIEW v AS SELECT w.k FROM silver.w;"""
    with program_of(text).session() as session:
        session.insert("bronze.src", (2,))
        session.commit()
        assert (
            [tuple(row) for row in session["silver.w"]]
            == [tuple(row) for row in session["v"]]
            == [(1,), (2,)]
        )


def test_lists_come_from_python_and_go_to_arrow() -> None:
    text = """CREATE TABLE r (k INTEGER, xs INTEGER[], ds DATE[]);
    CREATE VIEW v AS SELECT xs, ds, [[k]] AS n FROM r;"""
    with program_of(text).session() as session:
        session.insert("r", (1, [1, None], [datetime.date(2020, 1, 2)]), (2, None, []))
        session.commit()
        session.execute("INSERT INTO r VALUES (3, [7], NULL), (?, ?, ?)", (4, [], ["2020-01-03", None]))
        session.execute("INSERT INTO r VALUES (?, ?, ?)", (5, [None, 8], None))
        found = session["v"].to_arrow()
        assert list(map(str, found.schema.types)) == [
            "list<item: decimal128(38, 0)>",
            "list<item: date32[day]>",
            "list<item: list<item: decimal128(38, 0)>>",
        ]
        assert sorted(found.to_pylist(), key=str) == sorted(
            [
                {"xs": [1, None], "ds": [datetime.date(2020, 1, 2)], "n": [[1]]},
                {"xs": None, "ds": [], "n": [[2]]},
                {"xs": [7], "ds": None, "n": [[3]]},
                {"xs": [], "ds": [datetime.date(2020, 1, 3), None], "n": [[4]]},
                {"xs": [None, 8], "ds": None, "n": [[5]]},
            ],
            key=str,
        )
        rows = session.select("SELECT n[1][1] AS k, unnest(xs) AS x FROM v").rows
        assert sorted(map(str, rows)) == ["(1, 1)", "(1, None)", "(3, 7)", "(5, 8)", "(5, None)"]


def test_intervals_come_from_python_and_texts_and_are_printed_as_sql_prints_them() -> None:
    text = """CREATE TABLE r (k INTEGER, i INTERVAL);
    CREATE VIEW v AS SELECT i, max(k) AS k FROM r GROUP BY i; CREATE VIEW m AS SELECT max(i) AS i FROM r;"""
    with program_of(text).session() as session:
        session.insert("r", (1, datetime.timedelta(days=1, hours=2)), (2, "1 month 5 minutes"), (3, None))
        session.commit()
        session.execute(
            "INSERT INTO r VALUES (4, INTERVAL 26 HOUR), (?, ?)", (5, datetime.timedelta(-1, 3600))
        )
        rows = {(str(row[0]), row[1]) for row in session["v"]}
        assert rows == {("1 day, 2:00:00", 4), ("30 days, 0:05:00", 2), ("-1 day, 1:00:00", 5), ("None", 3)}
        shown = session.select("SELECT CAST(i AS VARCHAR) AS i, i + INTERVAL '3 hours' AS j FROM m").rows
        assert [tuple(map(str, row)) for row in shown] == [("30 days 00:05:00", "30 days, 3:05:00")]
        with pytest.raises(DDlogError, match="expected sql::Interval"):
            session.insert("r", (1, "1 fortnight"))
