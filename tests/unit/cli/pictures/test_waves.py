"""Waves of a rollout with their gates."""

import pytest
from tests.unit.cli.pictures.elements import problems_of, texts_of
from tests.unit.cli.rollout.plans import planned_cluster, rollout_plan

from ultracluster_cli.pictures.waves import draw_waves
from ultracluster_runtime.rollout.decide import Entry, Kind
from ultracluster_runtime.rollout.plan import ALARMS, DEPLOY, PREFLIGHT, STACKS, RolloutPlan

STEPS = (PREFLIGHT, DEPLOY, STACKS, "job:fabric-gate", "job:smoke-train", ALARMS)


def plan(
    *waves: str, clusters: int = 2, name: str = "pretrain", steps: tuple[str, ...] = STEPS
) -> RolloutPlan:
    return rollout_plan(
        *(
            planned_cluster(f"{name}-{wave}-{number}", wave=wave, steps=steps)
            for wave in waves
            for number in range(clusters)
        )
    )


def entry(kind: Kind, cluster: str, step: str) -> Entry:
    return Entry(kind=kind, cluster=cluster, step=step)


def test_each_step_has_its_state_in_words() -> None:
    entries = [
        entry(Kind.PASSED, "pretrain-canary-0", PREFLIGHT),
        entry(Kind.FAILED, "pretrain-canary-0", DEPLOY),
        entry(Kind.BEGUN, "pretrain-canary-1", PREFLIGHT),
    ]
    texts = texts_of(draw_waves(plan("canary", "main"), entries, title="Rollout 1").svg())

    assert {
        "Wave 1: canary",
        "Wave 2: main",
        "preflight: passed",
        "deploy: failed",
        "preflight: begun",
    } <= set(texts)
    assert texts.count("gate: job fabric-gate: waiting") == 4
    assert "when every cluster of canary has passed its gates" in texts


@pytest.mark.parametrize(
    ("kind", "name"), [(None, "a"), (Kind.BEGUN, "n" * 60), (Kind.PASSED, "W" * 60), (Kind.FAILED, "name")]
)
def test_twelve_waves_can_be_read_in_every_state(kind: Kind | None, name: str) -> None:
    steps = (*STEPS, f"job:{name}", *(f"job:gate-{number}" for number in range(8)))
    rollout = plan(*(f"{name}-{number}" for number in range(12)), name=name, clusters=2, steps=steps)
    entries = [
        entry(kind, cluster.name, step) for cluster in rollout.clusters for step in cluster.steps if kind
    ]

    assert problems_of(draw_waves(rollout, entries, title=f"Rollout {name}").svg()) == []
