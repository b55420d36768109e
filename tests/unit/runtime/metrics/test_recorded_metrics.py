"""A recording gives what was asked for, and nothing of other metrics, statistics or jobs."""

from tests.unit.runtime.metrics.recordings import PERIOD, START, recording, series

RECORDING = recording(
    series("StepSeconds", "Average", [2.0, 3.0], job="train"),
    series("StepSeconds", "Maximum", [9.0], job="train"),
    series("StepSeconds", "Average", [5.0], job="tune"),
    series("PaidNodes", "Average", [4.0]),
)


def test_the_points_are_those_of_one_metric_statistic_and_job() -> None:
    assert RECORDING.points("StepSeconds", "Average", job="train") == [(START, 2.0), (START + PERIOD, 3.0)]
    assert RECORDING.values("StepSeconds", "Maximum", job="train") == [9.0]
    assert RECORDING.values("PaidNodes", "Average") == [4.0]
    assert RECORDING.values("StepSeconds", "Average") == RECORDING.values("Loss", "Average") == []


def test_each_job_is_named_once_in_order() -> None:
    assert RECORDING.jobs == ("train", "tune")
