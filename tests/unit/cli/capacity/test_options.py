"""The options that describe a Capacity Block."""

from ultracluster_cli.capacity import parsing as capacity_input


def test_accepts_blocks_a_day_shorter_or_longer_than_asked() -> None:
    assert capacity_input.accepted_hours((336,)) == (312, 360)
    assert capacity_input.accepted_hours((24, 48)) == (1, 72)
