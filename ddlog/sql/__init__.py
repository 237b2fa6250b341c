"""SQL as programs of this language: tables are input relations, views are rules."""
