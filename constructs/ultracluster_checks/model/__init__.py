"""A template as the rules see it: resources with their values, nodes and what starts them, and permissions."""
