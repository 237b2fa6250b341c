"""The state of a session, and the transactions that change it."""
