"""Commands: the forms in which they are written, and how a session carries them out."""
