"""`ultracluster status`, `nodes` and `destroy`: what every day after the first needs."""
