"""What users of aws-cdk-lib may expect of each construct (decision 0032)."""

import inspect
from collections.abc import Iterator

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct
from tests.unit.ultracluster.every_construct import every_stack

import ultracluster as uc

Parameter = inspect.Parameter
# What every_construct.py does not build: a base class, and what needs a file system of S3 Files.
NOT_BUILT = {uc.ITrainingQueue, uc.S3FilesMountTarget}
# Several resources, none of which is the main one.
OF_SEVERAL = {uc.BakeOff, uc.ClusterAlarms, uc.UltraCluster}
RESULTS = {"grant_": iam.Grant, "metric": cloudwatch.IMetric, "on_": events.Rule}


def constructs() -> Iterator[type]:
    for name in uc.__all__:
        made = getattr(uc, name)
        if inspect.isclass(made) and issubclass(made, Construct) and "__init__" in vars(made):
            yield made


def methods() -> Iterator[tuple[str, inspect.Signature]]:
    for made in constructs():
        for name, value in inspect.getmembers(made, callable):
            if name.startswith(tuple(RESULTS)) and not name.startswith("grant_principal"):
                yield f"{made.__name__}.{name}", inspect.signature(value)


def test_constructs_take_scope_id_and_keywords() -> None:
    for made in constructs():
        names = [*inspect.signature(made.__init__).parameters.values()][1:]  # type: ignore[misc] - mypy thinks of instances
        assert [each.name for each in names[:2]] == ["scope", "construct_id"], made
        # A job is its description: it comes third.
        others = [each for each in names[2:] if each.name != "job"]
        assert {each.kind for each in others} <= {Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD}, made


def test_keys_have_one_name() -> None:
    for made in constructs():
        names = inspect.signature(made.__init__).parameters  # type: ignore[misc] - mypy thinks of instances
        assert {each for each in names if each.endswith("_key")} <= {"kms_key", "tag_key"}, made


def test_grants_metrics_and_rules_return_what_those_of_the_cdk_do() -> None:
    found = dict(methods())
    assert len(found) > 40
    for name, signature in found.items():
        (expected,) = [each for prefix, each in RESULTS.items() if name.split(".")[1].startswith(prefix)]
        result = signature.return_annotation
        wanted = (
            (cloudwatch.Metric, cloudwatch.MathExpression) if expected is cloudwatch.IMetric else expected
        )
        assert issubclass(result, wanted), name


def test_metrics_take_options() -> None:
    for name, signature in methods():
        if ".metric" in name and name != "BakeOff.metric_per_dollar":
            kinds = {each.kind for each in signature.parameters.values()}
            assert Parameter.VAR_KEYWORD in kinds, name


@pytest.mark.slow
def test_constructs_of_one_main_resource_have_it_as_default_child() -> None:
    """To override what no argument sets."""
    offered = {getattr(uc, name) for name in uc.__all__}
    ours = [each for each in every_stack().node.find_all() if type(each) in offered]

    assert {type(each) for each in ours} >= offered.intersection(constructs()) - NOT_BUILT
    assert [
        each.node.path
        for each in ours
        if each.node.children  # what is imported has none
        and type(each) not in OF_SEVERAL
        and not isinstance(each.node.default_child, cdk.CfnResource)
    ] == []
