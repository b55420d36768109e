"""What is true of every project that `ultracluster init` writes."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[4]


EVERY_PROJECT = {
    ".github",
    ".gitignore",
    ".gitlab-ci.yml",
    ".npmrc",
    "README.md",
    "app.py",
    "cdk.json",
    "package-lock.json",
    "package.json",
    "requirements.txt",
    "tests",
}


def check_project(project: Path) -> dict[str, Any]:
    """What is true of every project; gives the context of its cdk.json."""
    assert {path.name for path in project.iterdir()} >= EVERY_PROJECT
    ast.parse((project / "app.py").read_text())
    ast.parse((project / "tests" / "test_app.py").read_text())
    workflow = yaml.safe_load((project / ".github/workflows/ci.yaml").read_text())
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in used)
    assert not [path for path in project.rglob("*") if path.is_file() and "$deploy" in path.read_text()]
    context: dict[str, Any] = json.loads((project / "cdk.json").read_text())["context"]
    ours = json.loads((ROOT / "cdk.json").read_text())["context"]
    assert {key: value for key, value in ours.items() if key != "rollout"}.items() <= context.items()
    return context
