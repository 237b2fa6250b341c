-- Sixty views over the tables of TPC-C.
CREATE TABLE warehouse (w_id INTEGER PRIMARY KEY, w_name VARCHAR, w_city VARCHAR, w_state VARCHAR,
    w_tax DECIMAL(4, 4), w_ytd DECIMAL(12, 2));
CREATE TABLE district (d_id INTEGER, d_w_id INTEGER, d_name VARCHAR, d_city VARCHAR, d_state VARCHAR,
    d_tax DECIMAL(4, 4), d_ytd DECIMAL(12, 2), d_next_o_id INTEGER, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_id INTEGER, c_d_id INTEGER, c_w_id INTEGER, c_first VARCHAR, c_last VARCHAR,
    c_state VARCHAR, c_since TIMESTAMP, c_credit VARCHAR, c_discount DECIMAL(4, 4), c_balance DECIMAL(12, 2),
    c_payment_cnt INTEGER, PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (h_c_id INTEGER, h_c_d_id INTEGER, h_c_w_id INTEGER, h_d_id INTEGER, h_w_id INTEGER,
    h_date TIMESTAMP, h_amount DECIMAL(6, 2), h_data VARCHAR);
CREATE TABLE new_order (no_o_id INTEGER, no_d_id INTEGER, no_w_id INTEGER, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE oorder (o_id INTEGER, o_d_id INTEGER, o_w_id INTEGER, o_c_id INTEGER, o_entry_d TIMESTAMP,
    o_carrier_id INTEGER, o_ol_cnt INTEGER, o_all_local INTEGER, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE order_line (ol_o_id INTEGER, ol_d_id INTEGER, ol_w_id INTEGER, ol_number INTEGER, ol_i_id INTEGER,
    ol_supply_w_id INTEGER, ol_delivery_d TIMESTAMP, ol_quantity INTEGER, ol_amount DECIMAL(6, 2),
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE item (i_id INTEGER PRIMARY KEY, i_im_id INTEGER, i_name VARCHAR, i_price DECIMAL(5, 2), i_data VARCHAR);
CREATE TABLE stock (s_i_id INTEGER, s_w_id INTEGER, s_quantity INTEGER, s_ytd INTEGER, s_order_cnt INTEGER,
    s_remote_cnt INTEGER, s_data VARCHAR, PRIMARY KEY (s_w_id, s_i_id));

-- filters and projections
CREATE VIEW f1 AS SELECT c_id, c_d_id, c_w_id, c_last FROM customer WHERE c_credit = 'BC';
CREATE VIEW f2 AS SELECT i_id, upper(i_name) AS name, i_price FROM item WHERE i_price BETWEEN 10 AND 50;
CREATE VIEW f3 AS SELECT * FROM stock WHERE s_quantity < 15 AND s_remote_cnt > 0;
CREATE VIEW f4 AS SELECT o_id, o_d_id, o_w_id, coalesce(o_carrier_id, 0) AS carrier FROM oorder WHERE o_all_local = 1;
CREATE VIEW f5 AS SELECT c_id, c_first || ' ' || c_last AS name, c_balance * (1 - c_discount) AS due FROM customer WHERE c_balance > 0;
CREATE VIEW f6 AS SELECT h_c_id, h_amount, CASE WHEN h_amount > 1000 THEN 'high' WHEN h_amount > 100 THEN 'mid' ELSE 'low' END AS band FROM history;
CREATE VIEW f7 AS SELECT d_id, d_w_id, d_name FROM district WHERE d_name LIKE 'A%' OR d_tax > 0.15;
CREATE VIEW f8 AS SELECT ol_o_id, ol_i_id, ol_amount FROM order_line WHERE ol_delivery_d IS NULL;

-- DISTINCT
CREATE VIEW d1 AS SELECT DISTINCT c_last FROM customer;
CREATE VIEW d2 AS SELECT DISTINCT ol_i_id, ol_w_id FROM order_line WHERE ol_quantity > 5;
CREATE VIEW d3 AS SELECT DISTINCT w_state FROM warehouse;
CREATE VIEW d4 AS SELECT DISTINCT d_w_id, substring(d_name, 1, 2) AS prefix FROM district;

-- aggregates
CREATE VIEW a1 AS SELECT count(*) AS n FROM customer;
CREATE VIEW a2 AS SELECT ol_w_id, ol_d_id, sum(ol_amount) AS total, count(*) AS n FROM order_line GROUP BY ol_w_id, ol_d_id;
CREATE VIEW a3 AS SELECT c_w_id, c_credit, avg(c_balance) AS mean, max(c_payment_cnt) AS most FROM customer GROUP BY c_w_id, c_credit;
CREATE VIEW a4 AS SELECT s_w_id, min(s_quantity) AS low, max(s_quantity) AS high, sum(s_ytd) AS ytd FROM stock GROUP BY s_w_id;
CREATE VIEW a5 AS SELECT h_w_id, date_trunc('month', h_date) AS month, sum(h_amount) AS paid FROM history GROUP BY h_w_id, date_trunc('month', h_date);
CREATE VIEW a6 AS SELECT o_c_id, count(DISTINCT o_carrier_id) AS carriers FROM oorder GROUP BY o_c_id;
CREATE VIEW a7 AS SELECT ol_number, sum(ol_quantity) AS sum_qty, sum(ol_amount) AS sum_amount, avg(ol_quantity) AS avg_qty, count(*) AS n FROM order_line WHERE ol_delivery_d > TIMESTAMP '2007-01-02' GROUP BY ol_number;
CREATE VIEW a8 AS SELECT count(*) FILTER (WHERE s_quantity < 10) AS low, count(*) AS n FROM stock;

-- HAVING
CREATE VIEW h1 AS SELECT ol_i_id, sum(ol_quantity) AS sold FROM order_line GROUP BY ol_i_id HAVING sum(ol_quantity) > 20;
CREATE VIEW h2 AS SELECT c_last, count(*) AS n FROM customer GROUP BY c_last HAVING count(*) > 1;
CREATE VIEW h3 AS SELECT o_w_id, o_d_id, avg(o_ol_cnt) AS lines FROM oorder GROUP BY o_w_id, o_d_id HAVING max(o_ol_cnt) > 10 AND count(*) > 2;
CREATE VIEW h4 AS SELECT s_i_id, sum(s_quantity) AS everywhere FROM stock GROUP BY s_i_id HAVING min(s_quantity) < 12;

-- joins
CREATE VIEW j1 AS SELECT c_id, c_last, d_name FROM customer JOIN district ON c_d_id = d_id AND c_w_id = d_w_id;
CREATE VIEW j2 AS SELECT o_id, o_d_id, o_w_id, c_last, o_entry_d FROM oorder JOIN customer ON o_c_id = c_id AND o_d_id = c_d_id AND o_w_id = c_w_id;
CREATE VIEW j3 AS SELECT i_name, s_w_id, s_quantity FROM item JOIN stock ON i_id = s_i_id WHERE s_quantity < 20;
CREATE VIEW j4 AS SELECT i_name, sum(ol_amount) AS revenue FROM order_line JOIN item ON ol_i_id = i_id GROUP BY i_name;
CREATE VIEW j5 AS SELECT w_name, d_name, count(*) AS waiting FROM warehouse JOIN district ON d_w_id = w_id JOIN new_order ON no_w_id = d_w_id AND no_d_id = d_id GROUP BY w_name, d_name;
CREATE VIEW j6 AS SELECT c_id, c_d_id, c_w_id, sum(ol_amount) AS spent FROM customer, oorder, order_line WHERE c_id = o_c_id AND c_w_id = o_w_id AND c_d_id = o_d_id AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id GROUP BY c_id, c_d_id, c_w_id;
CREATE VIEW j7 AS SELECT a.c_id AS one, b.c_id AS other, a.c_last FROM customer a JOIN customer b ON a.c_last = b.c_last AND a.c_w_id = b.c_w_id AND a.c_d_id = b.c_d_id AND a.c_id < b.c_id;
CREATE VIEW j8 AS SELECT o_ol_cnt, sum(CASE WHEN o_carrier_id IN (1, 2) THEN 1 ELSE 0 END) AS high, sum(CASE WHEN o_carrier_id NOT IN (1, 2) THEN 1 ELSE 0 END) AS low FROM oorder, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_entry_d <= ol_delivery_d GROUP BY o_ol_cnt;

-- outer joins
CREATE VIEW l1 AS SELECT c_id, c_d_id, c_w_id, o_id FROM customer LEFT JOIN oorder ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id;
CREATE VIEW l2 AS SELECT i_id, count(ol_o_id) AS lines FROM item LEFT JOIN order_line ON ol_i_id = i_id GROUP BY i_id;
CREATE VIEW l3 AS SELECT d_w_id, d_id, no_o_id FROM district LEFT JOIN new_order ON no_w_id = d_w_id AND no_d_id = d_id WHERE no_o_id IS NULL;
CREATE VIEW l4 AS SELECT w_id, s_i_id, s_quantity FROM warehouse FULL JOIN stock ON w_id = s_w_id AND s_quantity > 80;

-- unions and other set operations
CREATE VIEW u1 AS SELECT w_city AS city FROM warehouse UNION SELECT d_city FROM district;
CREATE VIEW u2 AS SELECT w_state AS state FROM warehouse UNION ALL SELECT d_state FROM district UNION ALL SELECT c_state FROM customer;
CREATE VIEW u3 AS SELECT i_id FROM item EXCEPT SELECT ol_i_id FROM order_line;
CREATE VIEW u4 AS SELECT o_c_id AS c FROM oorder INTERSECT SELECT h_c_id FROM history;

-- subqueries
CREATE VIEW s1 AS SELECT c_id, c_last FROM customer WHERE EXISTS (SELECT 1 FROM oorder WHERE o_c_id = c_id AND o_w_id = c_w_id AND o_d_id = c_d_id);
CREATE VIEW s2 AS SELECT c_id, c_last FROM customer WHERE NOT EXISTS (SELECT 1 FROM oorder WHERE o_c_id = c_id AND o_w_id = c_w_id AND o_d_id = c_d_id);
CREATE VIEW s3 AS SELECT i_id, i_name FROM item WHERE i_id IN (SELECT s_i_id FROM stock WHERE s_quantity < 11);
CREATE VIEW s4 AS SELECT i_id, i_name, i_price FROM item WHERE i_price > (SELECT avg(i_price) FROM item);
CREATE VIEW s5 AS SELECT c_id, (SELECT max(o_entry_d) FROM oorder WHERE o_c_id = c_id AND o_w_id = c_w_id AND o_d_id = c_d_id) AS latest FROM customer;
CREATE VIEW s6 AS SELECT ol_i_id, ol_quantity FROM order_line o WHERE ol_quantity > (SELECT avg(ol_quantity) FROM order_line i WHERE i.ol_i_id = o.ol_i_id);
CREATE VIEW s7 AS WITH spent AS (SELECT h_c_id, sum(h_amount) AS paid FROM history GROUP BY h_c_id) SELECT c_id, c_last, paid FROM customer JOIN spent ON c_id = h_c_id WHERE paid > 100;
CREATE VIEW s8 AS SELECT state, count(*) AS n FROM (SELECT c_state AS state FROM customer WHERE c_balance < 0) AS poor GROUP BY state;

-- windows and the first rows
CREATE VIEW w1 AS SELECT c_id, c_w_id, row_number() OVER (PARTITION BY c_w_id, c_d_id ORDER BY c_balance DESC, c_id) AS place FROM customer;
CREATE VIEW w2 AS SELECT o_id, o_w_id, o_d_id, lag(o_entry_d) OVER (PARTITION BY o_w_id, o_d_id ORDER BY o_id) AS before FROM oorder;
CREATE VIEW w3 AS SELECT h_c_id, h_date, sum(h_amount) OVER (PARTITION BY h_c_id ORDER BY h_date) AS running FROM history;
CREATE VIEW w4 AS SELECT s_i_id, s_w_id, rank() OVER (PARTITION BY s_i_id ORDER BY s_quantity) AS place FROM stock;
CREATE VIEW w5 AS SELECT i_id, i_price FROM item ORDER BY i_price DESC, i_id LIMIT 10;
CREATE VIEW w6 AS SELECT ol_w_id, ol_i_id, sold FROM (SELECT ol_w_id, ol_i_id, sum(ol_quantity) AS sold, row_number() OVER (PARTITION BY ol_w_id ORDER BY sum(ol_quantity) DESC, ol_i_id) AS place FROM order_line GROUP BY ol_w_id, ol_i_id) AS ranked WHERE place <= 3;

-- views over views
CREATE VIEW v1 AS SELECT d_w_id, sum(total) AS total FROM a2 JOIN district ON ol_w_id = d_w_id AND ol_d_id = d_id GROUP BY d_w_id;
CREATE VIEW v2 AS SELECT name, count(*) AS n FROM f5 GROUP BY name;
CREATE VIEW v3 AS SELECT ol_i_id, sold, i_name FROM h1 JOIN item ON ol_i_id = i_id;
CREATE VIEW v4 AS SELECT f1.c_id, j6.spent FROM f1 JOIN j6 ON f1.c_id = j6.c_id AND f1.c_d_id = j6.c_d_id AND f1.c_w_id = j6.c_w_id WHERE spent > 50;
CREATE VIEW v5 AS SELECT state, n FROM s8 UNION SELECT w_state, 0 FROM warehouse;
CREATE VIEW v6 AS SELECT count(*) AS n, max(place) AS last FROM w1;
