"""The benchmarks are scripts beside each other; here they are modules."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
