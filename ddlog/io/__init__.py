"""Facts from files and relations to files: a module for each family of formats."""
