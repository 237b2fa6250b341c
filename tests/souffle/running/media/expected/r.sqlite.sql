BEGIN TRANSACTION;
CREATE TABLE __SymbolTable (id integer primary key, symbol text unique);
INSERT INTO "__SymbolTable" VALUES(1,'');
INSERT INTO "__SymbolTable" VALUES(2,'a "b"');
INSERT INTO "__SymbolTable" VALUES(3,'ü
');
INSERT INTO "__SymbolTable" VALUES(4,'[1, [2, nil]]');
INSERT INTO "__SymbolTable" VALUES(5,'[7, nil]');
INSERT INTO "__SymbolTable" VALUES(6,'nil');
INSERT INTO "__SymbolTable" VALUES(7,'[1.5, x]');
INSERT INTO "__SymbolTable" VALUES(8,'[2, l]');
CREATE TABLE "_none" ("0" integer);
CREATE TABLE "_r" ("0" integer, "1" integer, "2" integer, "3" integer, "4" integer);
INSERT INTO "_r" VALUES(-1,4294967295,3,6,6);
INSERT INTO "_r" VALUES(1,2,2,4,7);
INSERT INTO "_r" VALUES(3,5,1,5,8);
CREATE VIEW "r" as select "0", "1", (select symbol from __SymbolTable where id = "2") as "2", (select symbol from __SymbolTable where id = "3") as "3", (select symbol from __SymbolTable where id = "4") as "4" from "_r";
CREATE VIEW "none" as select "0" from "_none";
COMMIT;
