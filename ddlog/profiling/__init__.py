"""Where the time goes: measurements of sessions as data, text and pages."""
