"""Rollouts that choose their storage, synthesized."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.unit.stacks.conftest import QUICKSTART, synthesized_templates

from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

JOBS_LINE = "        jobs:\n"


def synthesized_with_storage(directory: Path, storage: str) -> Path:
    text = QUICKSTART.read_text()
    before = text[: text.index("        file_system:\n")]
    path = directory / "rollout.yaml"
    path.write_text(before + storage + text[text.index(JOBS_LINE) :])
    synthesize(load_rollout(path).config.clusters(), directory / "cdk.out")
    return directory / "cdk.out"


def resources_of_type(assembly: Path, resource_type: str) -> list[Mapping[str, Any]]:
    return [
        resource
        for template in synthesized_templates(assembly)
        for resource in template["Resources"].values()
        if resource["Type"] == resource_type
    ]
