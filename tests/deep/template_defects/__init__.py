"""Templates with one defect each, sound rewrites and public templates: what ``ultracluster check`` finds, seen from outside."""
