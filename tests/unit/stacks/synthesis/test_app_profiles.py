"""Who deploys a cluster is no part of it: another profile finds what was synthesized before."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import app as synthesis


class Cache:
    """A cache that has every cluster, and notes by which key each was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, config: str) -> Any:
        self.asked.append(config)
        return object()


def test_another_profile_is_the_same_assembly_and_another_account_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthesis, "merge_assembly", lambda *_: None)
    (cluster,) = load_rollout(QUICKSTART).config.waves[0].clusters
    cache: Any = Cache()
    for changed in ({}, {"profile": "production"}, {"account": "123456789012"}):
        synthesis.synthesize([replace(cluster, **changed)], tmp_path, cache=cache)

    own, other_profile, other_account = cache.asked
    assert own == other_profile
    assert own != other_account
