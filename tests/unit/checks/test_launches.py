"""Rules for launch templates: instance types, capacity, images, user data."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import BLOCK_ON_BATCH, CE, GROUP, LT, codes_after

from ultracluster_checks import Source, check_templates

RESERVED = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}}

MULTIPART = (
    'Content-Type: multipart/mixed; boundary="{boundary}"\n\n--{boundary}\n\n#!/bin/bash\n--{boundary}--\n'
)

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "UC4208",
        "batch-efa",
        {f"{LT}/UserData": "MIME-Version: 1.0\n\necho ECS_CLUSTER=mine >> /etc/ecs/ecs.config"},
    ),
    (
        "UC4208",
        "lustre-data",
        {
            "/Resources/Nodes": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {
                    "LaunchTemplateData": {"UserData": "#!/bin/sh\nmount -t lustre fs@tcp:/fsx /fsx"}
                },
            }
        },
    ),
    (
        "UC4208",
        "batch-efa",
        {
            f"{LT}/UserData": "MIME-Version: 1.0\n\nmount -t lustre ${Data.LustreMountName}@tcp:/${Data.DNSName} /fsx"
        },
    ),
    (
        "UC4020",
        "batch-efa",
        {path: value for path, value in BLOCK_ON_BATCH.items() if not path.endswith("PlacementGroup")},
    ),
    ("UC4001", "block-nodes", {f"{LT}/InstanceType": "trn2.96xlarge"}),
    ("UC4001", "block-nodes", {f"{LT}/InstanceType": "ml.trn2.48xlarge"}),
    ("UC4001", "block-nodes", {f"{LT}/InstanceType": "Trn2.48xlarge"}),
    ("UC4110", "block-nodes", {f"{LT}/ImageId": "ami-123"}),
    ("UC4202", "block-nodes", {f"{LT}/InstanceMarketOptions": {"MarketType": "spot"}}),
    ("UC4202", "batch-efa", {f"{CE}/Type": "SPOT", f"{LT}/CapacityReservationSpecification": RESERVED}),
    ("UC4203", "block-nodes", {f"{LT}/InstanceMarketOptions": DROP}),
    (
        "UC4204",
        "batch-efa",
        {
            f"{LT}/CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP}
            }
        },
    ),
    ("UC4205", "batch-efa", BLOCK_ON_BATCH | {f"{CE}/InstanceTypes": ["trn1.32xlarge", "trn1n.32xlarge"]}),
    ("UC4208", "batch-efa", {f"{LT}/UserData": {"Fn::Base64": "Content-Type: multipart/mixed; boundary=x"}}),
    (
        "UC4208",
        "batch-efa",
        {
            f"{LT}/UserData": {
                "Fn::Base64": MULTIPART.format(boundary="==x==").replace("--==x==\n", "--==y==\n")
            }
        },
    ),
    (
        "UC4210",
        "block-nodes",
        {"/Resources/Held": {"Type": "AWS::EC2::CapacityReservation", "Properties": {"InstanceCount": 4}}},
    ),
)


KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    # A future family may have any size.
    ("block-nodes", {f"{LT}/InstanceType": "trn9.48xlarge"}),
    ("batch-efa", {f"{LT}/MetadataOptions": {"HttpEndpoint": "disabled"}}),
    ("batch-efa", {f"{LT}/UserData": {"Fn::Base64": MULTIPART.format(boundary="x")}}),
    ("batch-efa", {f"{LT}/UserData": {"Fn::Sub": MULTIPART.format(boundary="${AWS::StackName}")}}),
    (
        "batch-efa",
        {
            f"{LT}/CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
            }
        },
    ),
    (
        "batch-efa",
        {
            f"{LT}/CapacityReservationSpecification": {
                "CapacityReservationPreference": "capacity-reservations-only",
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP},
            }
        },
    ),
    ("batch-efa", {f"{CE}/PlacementGroup": DROP} | BLOCK_ON_BATCH),
    (
        "block-nodes",
        {f"{LT}/Placement": {"GroupName": {"Fn::If": ["Placed", "training", {"Ref": "AWS::NoValue"}]}}},
    ),
    ("block-nodes", {f"{LT}/Placement": {"GroupName": {"Ref": "AWS::NoValue"}}}),
    ("block-nodes", {"/Parameters/ReservationId/Default": DROP}),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


@pytest.mark.parametrize(("size", "broken"), [(15 * 1024, False), (15 * 1024 + 1, True)])
def test_user_data_leaves_1_kib_of_16_to_aws_batch(
    foreign: dict[str, Source], size: int, broken: bool
) -> None:
    data = "MIME-Version: 1.0\n".ljust(size, "#")

    assert ("UC4209" in codes_after(foreign, "batch-efa", {f"{LT}/UserData": {"Fn::Base64": data}})) is broken


@pytest.mark.parametrize("lacking", ["ImageId", "InstanceType"])
def test_a_group_starts_nodes_of_a_known_type_and_image(lacking: str) -> None:
    data = {"ImageId": "ami-0a1b2c3d4e5f60718", "InstanceType": "trn1.32xlarge"}
    group = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}
    template = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}
    resources = {
        "Nodes": template,
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
    }
    source = Source(name="it", body={"Resources": resources})

    assert "UC4215" not in {each.code for each in check_templates([source]).findings}
    del data[lacking]
    assert "UC4215" in {each.code for each in check_templates([source]).findings}
