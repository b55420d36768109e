"""This repository's app in a folder of its own, as `ultracluster init` would leave one."""

import json
import sys
from pathlib import Path

__all__ = ["write_project"]

_ROOT = Path(__file__).parents[1]


def write_project(folder: Path, rollout: str | None = None) -> None:
    """Write cdk.json, with the rollout of this repository or `rollout` as the file in the folder, and the tools of Node.js."""
    cdk_json = json.loads((_ROOT / "cdk.json").read_text())
    cdk_json["app"] = f"{sys.executable} {_ROOT / 'app.py'}"
    cdk_json["context"]["rollout"] = str(_ROOT / cdk_json["context"]["rollout"])
    if rollout is not None:
        cdk_json["context"]["rollout"] = "rollout.yaml"
        (folder / "rollout.yaml").write_text(rollout)
    (folder / "cdk.json").write_text(json.dumps(cdk_json))
    (folder / "node_modules").symlink_to(_ROOT / "node_modules")
