"""Hosts, which keep the relations of a session: their abilities, and the choice among them."""
