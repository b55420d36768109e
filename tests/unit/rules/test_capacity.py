import pytest

from ultracluster_rules.capacity import check_block_duration


@pytest.mark.parametrize("hours", [24, 336, 504, 4368])
def test_accepts_a_duration_that_is_sold(hours: int) -> None:
    assert check_block_duration(hours) == []


@pytest.mark.parametrize(
    ("hours", "nearest"),
    [
        (0, "24 hours"),
        (12, "24 hours"),
        (25, "24 hours and 48 hours"),
        (360, "336 hours and 504 hours"),
        (4369, "4368 hours"),
        (4536, "4368 hours"),
    ],
)
def test_refuses_a_duration_that_is_not_sold_and_names_the_nearest(hours: int, nearest: str) -> None:
    (finding,) = check_block_duration(hours)
    assert finding.code == "UC7101"
    assert finding.remedy == f"Nearest valid durations: {nearest}."
