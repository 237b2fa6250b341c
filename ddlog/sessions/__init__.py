"""Programs, and sessions that keep their relations up to date."""
