"""Loads the quick start with a budget."""

from pathlib import Path

from ultracluster_spec.alarms import Budget
from ultracluster_stacks.config import load_rollout

QUICKSTART = Path(__file__).parents[4] / "stacks" / "rollouts" / "quickstart.yaml"


def load_with_budget(budget: str, folder: Path) -> Budget | None:
    path = folder / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace("        jobs:\n", f"        budget: {budget}\n        jobs:\n", 1)
    )
    return load_rollout(path).config.waves[0].clusters[0].budget
