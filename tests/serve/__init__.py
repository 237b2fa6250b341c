"""The server, its clients and its console."""
