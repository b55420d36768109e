"""What `ultracluster cost` answers of the rollouts of this repository."""

import json
from pathlib import Path
from typing import Any

ROLLOUTS = Path(__file__).parents[4] / "stacks" / "rollouts"


TWO_WAVES, QUICKSTART, JOBS = (str(ROLLOUTS / f"{name}.yaml") for name in ("two-waves", "quickstart", "jobs"))


def clusters(outcome: Any) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.stderr
    found: list[dict[str, Any]] = json.loads(outcome.stdout)["clusters"]
    return found
