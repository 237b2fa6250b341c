-- Views of many forms, for the trees of their rows.
CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE TABLE sale (item INTEGER NOT NULL, day DATE NOT NULL, count INTEGER NOT NULL);
CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR, boss INTEGER, pay DECIMAL(8,2));
CREATE VIEW turnover AS
SELECT name, sum(price * count) AS total, count(*) AS n FROM item JOIN sale ON item = id WHERE count > 0
GROUP BY name HAVING sum(count) > 1;
CREATE VIEW best AS
SELECT name FROM item
WHERE id IN (SELECT item FROM sale WHERE day >= DATE '2024-01-01' GROUP BY item HAVING sum(count) > 5);
CREATE VIEW unsold AS SELECT name, price FROM item AS i WHERE NOT EXISTS (SELECT * FROM sale WHERE sale.item = i.id);
CREATE VIEW sold AS SELECT name, price * 2 AS twice FROM item i WHERE EXISTS (SELECT 1 FROM sale s WHERE s.item = i.id AND s.count > 1);
CREATE VIEW notin AS SELECT name FROM item WHERE id NOT IN (SELECT item FROM sale WHERE count > 3);
CREATE VIEW names AS SELECT name FROM item UNION SELECT name FROM person WHERE name IS NOT NULL;
CREATE VIEW namesall AS SELECT name FROM item UNION ALL SELECT name FROM person WHERE name IS NOT NULL;
CREATE VIEW onlyitems AS SELECT name FROM item EXCEPT SELECT name FROM person;
CREATE VIEW chief AS WITH RECURSIVE up(id, top) AS (
    SELECT id, boss FROM person WHERE boss IS NOT NULL
    UNION SELECT up.id, p.boss FROM up JOIN person p ON up.top = p.id WHERE p.boss IS NOT NULL)
SELECT id, top FROM up;
CREATE VIEW named AS SELECT p.name, b.name AS boss, b.pay FROM person p LEFT JOIN person b ON p.boss = b.id;
CREATE VIEW days AS SELECT DISTINCT day FROM sale;
CREATE VIEW ranked AS SELECT name, pay, rank() OVER (PARTITION BY boss ORDER BY pay DESC) AS r FROM person;
CREATE VIEW top2 AS SELECT name, price FROM item ORDER BY price DESC LIMIT 2;
CREATE VIEW dear AS SELECT name, (SELECT max(count) FROM sale WHERE item = id) AS most FROM item WHERE price > (SELECT avg(price) FROM item);
CREATE VIEW cubed AS SELECT boss, name, sum(pay) AS p FROM person GROUP BY ROLLUP (boss, name);
CREATE VIEW kinds AS SELECT count(DISTINCT item) AS items, sum(count) AS total FROM sale;
CREATE VIEW cte AS WITH big AS (SELECT item, count AS c FROM sale WHERE count > 2) SELECT a.item, b.c FROM big a JOIN big b ON a.item = b.item;
INSERT INTO person VALUES (9, 'ida', NULL, 12.50);
CREATE VIEW costly AS SELECT * FROM turnover WHERE total >= 15;
CREATE VIEW shared AS SELECT name FROM item INTERSECT SELECT name FROM person;
CREATE VIEW spare AS SELECT item, count FROM sale EXCEPT ALL SELECT id, 4 FROM item;
CREATE VIEW steps AS WITH RECURSIVE n(k) AS (SELECT id FROM item WHERE id = 1 UNION ALL SELECT k + 1 FROM n WHERE k < 3)
SELECT k FROM n;
CREATE VIEW least AS SELECT min(price) AS cheapest, max(name) AS last FROM item;
CREATE VIEW cases AS SELECT id, CASE WHEN price > 10 THEN 'dear' ELSE 'cheap' END AS kind FROM item
WHERE EXISTS (SELECT 1 FROM sale WHERE item = id) OR id = 3;
