"""A local AWS as the target of a deployment."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli._aws import local_target
from ultracluster_cli._aws.targets import open_targets
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.seeding.seed_client import SeedContainerImage
from ultracluster_stacks.config import load_rollout

Seed = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Seed:
    """Open the local AWS for the quick start with another text; return what is seeded."""

    def run(old: str, new: str) -> dict[str, Any]:
        text = QUICKSTART.read_text()
        assert old in text
        rollout = tmp_path / "rollout.yaml"
        rollout.write_text(text.replace(old, new))
        (wave,) = load_rollout(rollout).config.waves
        seeded: dict[str, Any] = {}
        running = SimpleNamespace(endpoint="http://127.0.0.1:1", key="LOCAL1")
        monkeypatch.setattr(local_target, "status", lambda _: running)
        monkeypatch.setattr(local_target, "seed", lambda **wanted: seeded.update(wanted))
        with open_targets(wave.clusters, local=True, temporary=tmp_path):
            return seeded

    return run


@pytest.mark.parametrize(
    ("registry", "region"),
    [
        ("dkr.ecr.us-east-2.amazonaws.com", "us-east-2"),
        ("dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"),
    ],
)
def test_images_of_jobs_in_registries_of_the_local_account_are_seeded(
    seed: Seed, registry: str, region: str
) -> None:
    image = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"

    assert seed(image, f"{ACCOUNT}.{registry}/training:1")["container_images"] == {
        SeedContainerImage(repository="training", tag="1", region=region),
    }


@pytest.mark.parametrize(("market", "ends"), [("capacity-block", True), ("on-demand", False)])
def test_a_seeded_block_ends_and_a_reservation_does_not(seed: Seed, market: str, ends: bool) -> None:
    (reservation,) = seed("market_type: capacity-block", f"market_type: {market}")["reservations"]

    assert (reservation.block, reservation.end is not None) == (ends, ends)
    assert reservation.end is None or reservation.end > reservation.start


def test_nodes_have_the_launcher_and_the_settings_of_the_agent_that_their_user_data_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = local_target.node_files()
    compile(files.pop("/run/ultracluster/launch"), *("launch.py", "exec"))
    assert files.keys() == {"/etc/ecs/ecs.config"}
    assert files["/etc/ecs/ecs.config"].splitlines() == [
        "ECS_AWSVPC_BLOCK_IMDS=true",
        "ECS_IMAGE_MINIMUM_CLEANUP_AGE=168h",
    ]
    monkeypatch.setattr(local_target, "find_spec", lambda _: None)
    assert local_target.node_files() == {}
