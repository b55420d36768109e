"""`ultracluster validate`, `explain`, `rules` and `check`."""
