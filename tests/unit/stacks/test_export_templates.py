"""Exported templates need neither the CDK nor its bootstrap."""

import json
import re
from typing import Any

import pytest
from tests.unit.stacks.exported_templates import IMAGE, RESERVATION, VALUES, ZONE, exported

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.export import exported_template, text_of


def properties(value: Any) -> Any:
    """What a property of this value becomes."""
    return exported({"Type": "A::B::C", "Properties": {"P": value}})["Resources"]["One"]["Properties"]["P"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plain", "plain"),
        (7, 7),
        (IMAGE, {"Ref": "ImageId"}),
        ("us-east-2", {"Ref": "AWS::Region"}),
        ("com.amazonaws.us-east-2.s3", {"Fn::Join": ["", ["com.amazonaws.", {"Ref": "AWS::Region"}, ".s3"]]}),
        (f"a {ZONE} b {IMAGE}", {"Fn::Join": ["", ["a ", {"Ref": "ZoneId"}, " b ", {"Ref": "ImageId"}]]}),
        ("us-east-20", "us-east-20"),
        ("arn:aws:s3:::x", {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::x"]]}),
        ("arn:aws-cn:s3:::x", {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::x"]]}),
        ("aws:RequestTag/x", "aws:RequestTag/x"),
        (
            [{"Deep": [f"{RESERVATION}/x"]}],
            [{"Deep": [{"Fn::Join": ["", [{"Ref": "ReservationId"}, "/x"]]}]}],
        ),
        ({"Fn::Sub": "${Own}-us-east-2"}, {"Fn::Sub": "${Own}-${AWS::Region}"}),
        (
            {"Fn::Sub": ["${Own}-us-east-2", {"Own": ZONE}]},
            {"Fn::Sub": ["${Own}-${AWS::Region}", {"Own": {"Ref": "ZoneId"}}]},
        ),
        # A script's own variables are no references.
        ("echo ${X} us-east-2", {"Fn::Join": ["", ["echo ${X} ", {"Ref": "AWS::Region"}]]}),
    ],
)
def test_what_differs_between_places_becomes_a_reference(before: Any, after: Any) -> None:
    assert properties(before) == after


def test_a_parameter_is_there_only_if_something_names_it_and_keeps_its_value_as_default() -> None:
    template = exported({"Type": "A::B::C", "Properties": {"P": RESERVATION}})

    assert set(template["Parameters"]) == {"ReservationId"}
    assert template["Parameters"]["ReservationId"]["Default"] == RESERVATION
    assert "Parameters" not in exported({"Type": "A::B::C"})


def test_a_second_reservation_has_a_parameter_of_the_same_kind() -> None:
    template = exported_template(
        {"Resources": {"One": {"Type": "A::B::C", "Properties": {"P": [RESERVATION, "cr-1"]}}}},
        values={RESERVATION: "ReservationId", "cr-1": "ReservationId2"},
        region="us-east-2",
        bucket=None,
    )

    first, second = (template["Parameters"][name] for name in ("ReservationId", "ReservationId2"))
    assert {**first, "Default": "cr-1"} == second


def test_a_parameter_takes_the_reservations_that_a_rollout_takes() -> None:
    parameter = exported({"Type": "A::B::C", "Properties": {"P": RESERVATION}})["Parameters"]["ReservationId"]

    assert re.fullmatch(parameter["AllowedPattern"], RESERVATION)
    assert not re.fullmatch(parameter["AllowedPattern"], "cr-01234567")


def test_code_moves_from_the_bucket_of_the_bootstrap_to_a_parameter() -> None:
    code = {"S3Bucket": {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-us-east-2"}, "S3Key": "1.zip"}
    function = {"Type": "AWS::Lambda::Function", "Properties": {"Code": code}}

    template, named = exported(function), exported(function, bucket="mine")

    assert template["Resources"]["One"]["Properties"]["Code"] == {
        "S3Bucket": {"Ref": "AssetBucket"},
        "S3Key": "1.zip",
    }
    assert "Default" not in template["Parameters"]["AssetBucket"]
    assert named["Parameters"]["AssetBucket"]["Default"] == "mine"


@pytest.mark.parametrize("need", ["cdk-hnb659fds-assets-1-us-east-2", "1.dkr.ecr/cdk-x-container-assets-1"])
def test_refuses_what_needs_the_bootstrap_for_something_else(need: str) -> None:
    with pytest.raises(FindingsError, match="UC9612"):
        properties(need)
    assert properties("cdk-is-a-word") == "cdk-is-a-word"


def test_refuses_a_key_that_would_have_to_be_computed() -> None:
    with pytest.raises(FindingsError, match=rf"UC9610: .*{RESERVATION}"):
        properties({f"tag-{RESERVATION}": "x"})
    assert properties({"tag": RESERVATION}) == {"tag": {"Ref": "ReservationId"}}


def test_leaves_out_what_is_for_the_cdk_only() -> None:
    template = exported(
        {"Type": "A::B::C", "Metadata": {"aws:cdk:path": "x", "ours": 1, "aws:asset:path": "y"}},
        Parameters={"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>"}},
        Rules={"CheckBootstrapVersion": {}},
    )

    assert template == {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"One": {"Type": "A::B::C", "Metadata": {"ours": 1}}},
    }


def test_leaves_out_the_resource_with_which_the_cdk_counts_its_users() -> None:
    both = {"CDKMetadata": {"Type": "AWS::CDK::Metadata"}, "One": {"Type": "A::B::C"}}

    template = exported_template({"Resources": both}, values=VALUES, region="us-east-2", bucket=None)

    assert set(template["Resources"]) == {"One"}


def test_a_template_is_written_without_spaces() -> None:
    assert json.loads(text_of({"a": [1, 2]})) == {"a": [1, 2]}
    assert " " not in text_of({"a": [1, 2]})
