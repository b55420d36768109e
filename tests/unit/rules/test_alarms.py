import pytest

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules.alarms import check_alarm_thresholds


@pytest.mark.parametrize(("name", "bounds"), THRESHOLD_BOUNDS.items())
def test_a_threshold_is_within_its_bounds(name: str, bounds: tuple[int, int]) -> None:
    least, most = bounds
    for allowed in bounds:
        assert check_alarm_thresholds(AlarmThresholds(**{name: allowed})) == []
    for outside in (least - 1, most + 1):
        (finding,) = check_alarm_thresholds(AlarmThresholds(**{name: outside}))
        assert (finding.code, finding.path) == ("UC6440", name)


@pytest.mark.parametrize("broken", [True, 1.5, "5", None])
def test_a_threshold_is_a_whole_number(broken: object) -> None:
    (finding,) = check_alarm_thresholds(AlarmThresholds(idle_minutes=broken))  # type: ignore[arg-type]
    assert finding.code == "UC6440"


def test_all_thresholds_that_are_wrong_are_named_together() -> None:
    findings = check_alarm_thresholds(AlarmThresholds(idle_percent=-1, wait_minutes=0, free_percent=91))
    assert [finding.path for finding in findings] == ["idle_percent", "wait_minutes", "free_percent"]
