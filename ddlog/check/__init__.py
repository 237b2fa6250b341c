"""The checker: from syntax to core, with names resolved and every expression typed."""
