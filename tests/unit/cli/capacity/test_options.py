"""The options that describe a Capacity Block."""

from ultracluster_cli.capacity import options


def test_accepts_blocks_a_day_shorter_or_longer_than_asked() -> None:
    assert options.accepted_hours((336,)) == (312, 360)
    assert options.accepted_hours((24, 48)) == (1, 72)
