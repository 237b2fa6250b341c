"""The results of sessions: changes, relations, answers, and the rows of indexes."""

from .views import Changes, RelationView, Result

__all__ = ["Changes", "RelationView", "Result"]
