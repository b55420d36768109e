"""The panels chart metrics that somebody publishes, each in the way its values are meant."""

import botocore.session

from ultracluster_catalog.observability.metrics import METRICS, NAMESPACE
from ultracluster_catalog.observability.panels import PANELS

OWN = [line for panel in PANELS for line in panel.lines if line.source == NAMESPACE]


def test_every_metric_is_published() -> None:
    assert {line.metric for line in OWN} <= set(METRICS)


def test_only_the_metrics_of_training_have_a_line_for_each_job() -> None:
    assert {line.metric for line in OWN if line.by_job} == {
        line.metric for line in OWN if METRICS[line.metric].source == "training"
    }


def test_the_function_that_looks_every_minute_is_never_added_up() -> None:
    # Its values are states: a sum of five minutes would show five times the nodes.
    assert [
        line.metric for line in OWN if METRICS[line.metric].source == "watch" and line.statistic == "Sum"
    ] == []


def test_statistics_are_those_of_cloudwatch() -> None:
    model = botocore.session.get_session().get_service_model("cloudwatch")
    statistics = model.shape_for("Statistic").enum

    assert {line.statistic for panel in PANELS for line in panel.lines} <= set(statistics)


def test_a_rate_is_made_of_a_sum() -> None:
    lines = [line for panel in PANELS for line in panel.lines]
    assert all(line.statistic == "Sum" for line in lines if line.per_seconds is not None)


def test_titles_are_distinct() -> None:
    titles = [panel.title for panel in PANELS]
    assert len(set(titles)) == len(titles)
    assert all(panel.unit and panel.lines for panel in PANELS)
