"""Core rules to circuits: strata, rule bodies, aggregates."""
