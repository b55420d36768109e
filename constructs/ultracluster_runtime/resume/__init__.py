"""Resubmit jobs that a drain or a lost node has ended, up to the limit that each job sets."""
