"""Finding AMIs: those of AWS, and those that were baked."""
