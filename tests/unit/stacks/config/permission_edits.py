"""Loads the quick start with permissions."""

from pathlib import Path

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout

QUICKSTART = Path(__file__).parents[4] / "stacks" / "rollouts" / "quickstart.yaml"


def load_with_permissions(fields: str, folder: Path) -> Cluster:
    path = folder / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace("        jobs:\n", f"        {fields}\n        jobs:\n", 1)
    )
    return load_rollout(path).config.waves[0].clusters[0]
