from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_runtime import training_metrics


def test_metrics_are_in_the_units_of_cloudwatch() -> None:
    # StandardUnit of botocore's model of CloudWatch.
    known = {"Bytes", "Count", "Count/Second", "None", "Percent", "Seconds"}
    assert {each.unit for each in METRICS.values()} <= known
    assert all(name == each.name for name, each in METRICS.items())


def test_metrics_of_the_training_are_those_that_its_module_prints() -> None:
    ours = {each.name: each.unit for each in METRICS.values() if each.source == "training"}
    assert ours == training_metrics._UNITS
