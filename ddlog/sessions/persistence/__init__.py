"""The durable state of a session in a file: what it keeps, and how a session begins with it."""
