"""Explanations: why a row holds, and why it does not, in terms of the rules as they are written."""
