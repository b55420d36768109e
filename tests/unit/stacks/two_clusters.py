"""Rollouts of two clusters, synthesized in this process."""

import json
import tempfile
from pathlib import Path

from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize


def assembled(path: Path, *, wave: str | None = None) -> list[AssembledStack]:
    with tempfile.TemporaryDirectory() as directory:
        synthesize(load_rollout(path).config.clusters(wave), Path(directory))
        return assembled_stacks(Path(directory))


def templates(path: Path, *, wave: str | None = None) -> dict[str, str]:
    return {
        each.stack.name: json.dumps(each.stack.template, sort_keys=True)
        for each in assembled(path, wave=wave)
    }
