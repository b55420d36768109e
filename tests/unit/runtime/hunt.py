"""Hunt for a violation in whatever `ultracluster_runtime` the path leads to; exit 3 and name it when there is one."""

import sys
from pathlib import Path

from tests.unit.runtime.invariants import Violation
from tests.unit.runtime.sweeps import hunt

import ultracluster_runtime


def main() -> int:
    """Run the hunt.

    Returns:
        3 when an invariant was violated, else 0.
    """
    expected = Path(sys.argv[1]).resolve()
    if expected not in Path(str(ultracluster_runtime.__file__)).resolve().parents:
        raise SystemExit(f"hunting in {ultracluster_runtime.__file__}, not in {expected}")
    try:
        hunt(random_lives=300)
    except Violation as violation:
        sys.stdout.write(f"{violation}\n")
        return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
