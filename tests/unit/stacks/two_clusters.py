"""Rollouts synthesized in this process, which saves the start of others."""

import json
import tempfile
from pathlib import Path

from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.synthesis.in_process import synthesize


def assembled(path: Path, *, wave: str | None = None) -> list[StackTemplate]:
    with tempfile.TemporaryDirectory() as directory:
        synthesize(load_rollout(path).config.clusters(wave), Path(directory))
        return assembled_stacks(Path(directory))


def templates(path: Path, *, wave: str | None = None) -> dict[str, str]:
    return {stack.name: json.dumps(stack.template, sort_keys=True) for stack in assembled(path, wave=wave)}
