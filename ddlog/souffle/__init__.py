"""Soufflé programs as programs of this language: `ddlog import-souffle`."""
