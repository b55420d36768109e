"""Reads and checks a rollout file, and prints the seconds that took: python validate.py ROLLOUT."""

import sys
import time

from ultracluster_stacks.config import load_rollout

began = time.perf_counter()
load_rollout(sys.argv[1])
print(time.perf_counter() - began)
