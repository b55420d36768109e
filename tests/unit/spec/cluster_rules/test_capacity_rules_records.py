"""Capacity in a rollout file."""

from collections.abc import Callable

from ultracluster_stacks.config import LoadedRollout


def test_reads_times_as_utc(load: Callable[..., LoadedRollout]) -> None:
    capacity = load().config.waves[0].clusters[0].capacity

    assert capacity.start is not None
    assert capacity.start.isoformat() == "2026-12-01T12:00:00+00:00"
