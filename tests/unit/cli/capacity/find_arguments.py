"""Arguments of `ultracluster capacity find`, up to its time and its Regions."""

FIND = ["capacity", "find", "--instance-type", "trn2.48xlarge", "--nodes", "16", "--days", "14"]


BETWEEN = ["--between", "2026-12-01", "2027-01-15"]
