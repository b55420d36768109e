"""Exported templates: clean for every Region that sells Trainium, and deployed by boto3 alone in another Region than their own."""

import hashlib
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from botocore.exceptions import ClientError
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli.export.command import export_assembly
from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.seeding.seed_client import SeedImage, SeedReservation, seed
from ultracluster_stacks.config import load_rollout

pytestmark = pytest.mark.slow

# Where Trainium or blocks of it were sold on some day, by the catalogue.
REGIONS = ["us-east-1", "us-east-2", "us-west-2", "ap-south-1", "ap-southeast-4", "eu-north-1"]
PARTS = ("network", "storage", "cluster")


class Place(NamedTuple):
    """A Region other than that of the rollout, with what its parameters name."""

    region: str
    zone_id: str
    image_id: str
    reservation_id: str
    bucket: str


PLACES = (
    Place("ap-southeast-4", "apse4-az1", "ami-0aaaaaaaaaaaaaaaa", "cr-0aaaaaaaaaaaaaaaa", "code-of-a-user"),
    Place("us-west-2", "usw2-az4", "ami-0bbbbbbbbbbbbbbbb", "cr-0bbbbbbbbbbbbbbbb", "code-of-another"),
)
ELSEWHERE, ZONE_ID, IMAGE_ID, RESERVATION_ID, _ = PLACES[0]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    done = synthesize_rollout(QUICKSTART, folder / "cdk.out")
    assert done.returncode == 0, done.stderr
    clusters = clusters_of(load_rollout(QUICKSTART).config, None)
    export_assembly(folder / "cdk.out", clusters, output=folder / "out", bucket=None)
    export_assembly(folder / "cdk.out", clusters, output=folder / "again", bucket=None)
    return folder / "out"


@pytest.fixture(scope="module")
def templates(exported: Path) -> dict[str, str]:
    return {
        part: (exported / "quickstart-us-east-2" / f"{part}.template.json").read_text()
        for part in (*PARTS, "stack-sets")
    }


def test_templates_are_clean_in_every_region_that_sells_trainium(templates: dict[str, str]) -> None:
    for name, text in templates.items():
        assert [f"{name}: {match}" for match in lint(text, regions=REGIONS)] == []


def test_nothing_of_the_cdk_and_of_the_region_is_left(templates: dict[str, str]) -> None:
    for part in PARTS:
        template = json.loads(templates[part])
        template.pop("Parameters", None)  # their defaults are what the rollout says
        text = json.dumps(template)
        found = [
            word
            for word in ("cdk", "us-east-2", "use2-az", "cr-0123", "ami-0123", "arn:aws:")
            if word in text
        ]
        assert found == []
    assert set(json.loads(templates["cluster"])["Parameters"]) == {"ImageId", "ReservationId", "AssetBucket"}
    assert set(json.loads(templates["network"])["Parameters"]) == {"ZoneId"}


def test_the_same_rollout_produces_the_same_bytes(exported: Path) -> None:
    def content(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

    assert len(content(exported)) == 5
    assert content(exported) == content(exported.parent / "again")


@pytest.fixture(scope="module")
def place(local_aws_server: LocalAws, exported: Path) -> Iterator[LocalAws]:
    """Regions with an AMI, a block, and a bucket with the assets."""
    local_aws_server.reset()
    now = datetime.now(UTC)
    seed(
        endpoint=local_aws_server.endpoint,
        key=local_aws_server.key,
        regions=[each.region for each in PLACES],
        images=[SeedImage(image_id=each.image_id, region=each.region) for each in PLACES],
        reservations=[
            SeedReservation(
                reservation_id=each.reservation_id,
                region=each.region,
                zone_id=each.zone_id,
                instance_type="trn2.48xlarge",
                count=4,
                start=now,
                end=now + timedelta(days=1),
                block=True,
            )
            for each in PLACES
        ],
    )
    for each in PLACES:
        s3 = local_aws_server.client("s3", each.region)
        s3.create_bucket(Bucket=each.bucket, CreateBucketConfiguration={"LocationConstraint": each.region})
        for path in (exported / "assets").iterdir():
            s3.put_object(Bucket=each.bucket, Key=path.name, Body=path.read_bytes())
    yield local_aws_server
    local_aws_server.reset()


def parameters(template: str, there: Place = PLACES[0]) -> list[dict[str, str]]:
    given = {
        "ImageId": there.image_id,
        "ReservationId": there.reservation_id,
        "ZoneId": there.zone_id,
        "AssetBucket": there.bucket,
    }
    declared = json.loads(template).get("Parameters", {})
    return [{"ParameterKey": name, "ParameterValue": given[name]} for name in declared]


def uploaded(place: LocalAws, template: str) -> str:
    """Put a template into a bucket, since a body has at most 51,200 bytes; return its URL."""
    there, key = PLACES[0], hashlib.sha256(template.encode()).hexdigest()
    place.client("s3", there.region).put_object(Bucket=there.bucket, Key=key, Body=template.encode())
    return f"{place.endpoint}/{there.bucket}/{key}"


def test_deploys_by_boto3_alone_in_another_region(place: LocalAws, templates: dict[str, str]) -> None:
    cloudformation = place.client("cloudformation", ELSEWHERE)
    for part in PARTS:
        cloudformation.create_stack(
            StackName=f"by-hand-{part}",
            TemplateURL=uploaded(place, templates[part]),
            Parameters=parameters(templates[part]),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        (stack,) = cloudformation.describe_stacks(StackName=f"by-hand-{part}")["Stacks"]
        events = cloudformation.describe_stack_events(StackName=f"by-hand-{part}")["StackEvents"]
        reasons = [event.get("ResourceStatusReason") for event in events]
        assert stack["StackStatus"] == "CREATE_COMPLETE", reasons

    ec2 = place.client("ec2", ELSEWHERE)
    (launch_template,) = ec2.describe_launch_templates()["LaunchTemplates"]
    (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=launch_template["LaunchTemplateId"])[
        "LaunchTemplateVersions"
    ]
    data = version["LaunchTemplateData"]
    assert data["ImageId"] == IMAGE_ID
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": RESERVATION_ID}
    (file_system,) = place.client("fsx", ELSEWHERE).describe_file_systems()["FileSystems"]
    (subnet,) = ec2.describe_subnets(SubnetIds=file_system["SubnetIds"])["Subnets"]
    assert subnet["AvailabilityZoneId"] == ZONE_ID
    endpoints = ec2.describe_vpc_endpoints()["VpcEndpoints"]
    assert {endpoint["ServiceName"].split(".")[2] for endpoint in endpoints} == {ELSEWHERE}
    names = [
        function["FunctionName"]
        for function in place.client("lambda", ELSEWHERE).list_functions()["Functions"]
    ]
    assert {name.removeprefix("by-hand-cluster-Cluster").partition("Function")[0] for name in names} == {
        "BlockLifecycle",
        "JobResume",
        "Watch",
    }


def test_is_a_stack_set_whose_stacks_have_the_parameters_of_their_region(
    place: LocalAws, templates: dict[str, str]
) -> None:
    admin = place.client("cloudformation", "us-east-1")
    there = PLACES[1]
    for part in PARTS:
        name = f"training-{part}"
        admin.create_stack_set(
            StackSetName=name,
            TemplateURL=uploaded(place, templates[part]),
            Parameters=parameters(templates[part], PLACES[0]),  # of another Region, so overridden below
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        operation = admin.create_stack_instances(
            StackSetName=name,
            Accounts=[ACCOUNT],
            Regions=[there.region],
            ParameterOverrides=parameters(templates[part], there),
        )["OperationId"]
        assert ended(admin, name, operation) == "SUCCEEDED"

    (file_system,) = place.client("fsx", there.region).describe_file_systems()["FileSystems"]
    subnets = place.client("ec2", there.region).describe_subnets(SubnetIds=file_system["SubnetIds"])
    (subnet,) = subnets["Subnets"]
    assert subnet["AvailabilityZoneId"] == there.zone_id
    (queue,) = place.client("batch", there.region).describe_job_queues()["jobQueues"]
    assert queue["status"] == "VALID"

    name = "training-cluster"
    with pytest.raises(ClientError, match="StackSetNotEmptyException"):
        admin.delete_stack_set(StackSetName=name)
    operation = admin.delete_stack_instances(
        StackSetName=name, Accounts=[ACCOUNT], Regions=[there.region], RetainStacks=False
    )["OperationId"]
    assert ended(admin, name, operation) == "SUCCEEDED"
    assert place.client("batch", there.region).describe_job_queues()["jobQueues"] == []
    admin.delete_stack_set(StackSetName=name)


def ended(admin: Any, name: str, operation: str) -> str:
    """Wait for an operation of a StackSet, and return how it ended."""
    while True:
        shown = admin.describe_stack_set_operation(StackSetName=name, OperationId=operation)
        status: str = shown["StackSetOperation"]["Status"]
        if status != "RUNNING":
            return status
        time.sleep(0.2)
