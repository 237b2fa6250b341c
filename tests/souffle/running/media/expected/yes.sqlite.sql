BEGIN TRANSACTION;
CREATE TABLE __SymbolTable (id integer primary key, symbol text unique);
CREATE TABLE "_yes" ("()" integer);
INSERT INTO "_yes" VALUES(1);
CREATE VIEW "yes" as select * from "_yes";
COMMIT;
