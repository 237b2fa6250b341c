"""Where a session keeps its relations: hosts, what they offer, and the choice among them."""
