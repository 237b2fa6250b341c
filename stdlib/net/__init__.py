"""Library modules on internet addresses."""
