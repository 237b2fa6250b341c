"""One evaluation without state: each relation is one query of Spark's, through all strata without
recursion."""
