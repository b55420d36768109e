import pytest

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_rules.findings import FindingsError
from ultracluster_runtime import training_metrics


@pytest.mark.parametrize(("name", "bounds"), THRESHOLD_BOUNDS.items())
def test_a_threshold_is_within_its_bounds(name: str, bounds: tuple[int, int]) -> None:
    least, most = bounds
    for kept in bounds:
        assert getattr(AlarmThresholds(**{name: kept}), name) == kept
    for broken in (least - 1, most + 1):
        with pytest.raises(FindingsError, match="UC6440"):
            AlarmThresholds(**{name: broken})


@pytest.mark.parametrize("broken", [True, 1.5, "5", None])
def test_a_threshold_is_a_whole_number(broken: object) -> None:
    with pytest.raises(FindingsError, match="UC6440"):
        AlarmThresholds(idle_minutes=broken)  # type: ignore[arg-type]


def test_all_thresholds_that_are_wrong_are_named_together() -> None:
    with pytest.raises(FindingsError) as raised:
        AlarmThresholds(idle_percent=-1, wait_minutes=0, free_percent=91)
    assert [each.path for each in raised.value.findings] == ["idle_percent", "wait_minutes", "free_percent"]


def test_every_threshold_has_bounds_that_its_default_keeps() -> None:
    for name, (least, most) in THRESHOLD_BOUNDS.items():
        assert least <= getattr(AlarmThresholds(), name) <= most


def test_metrics_are_in_the_units_of_cloudwatch() -> None:
    # StandardUnit of botocore's model of CloudWatch.
    known = {"Bytes", "Count", "Count/Second", "None", "Percent", "Seconds"}
    assert {each.unit for each in METRICS.values()} <= known
    assert all(name == each.name for name, each in METRICS.items())


def test_metrics_of_the_training_are_those_that_its_module_prints() -> None:
    ours = {each.name: each.unit for each in METRICS.values() if each.source == "training"}
    assert ours == training_metrics._UNITS
