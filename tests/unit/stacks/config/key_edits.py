"""Loads the quick start with a key."""

from pathlib import Path

from ultracluster_stacks.config import load_rollout

QUICKSTART = Path(__file__).parents[4] / "stacks" / "rollouts" / "quickstart.yaml"


def load_with_key(fields: str, folder: Path) -> str | None:
    path = folder / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace("        jobs:\n", f"        {fields}\n        jobs:\n", 1)
    )
    return load_rollout(path).config.waves[0].clusters[0].kms_key_arn
