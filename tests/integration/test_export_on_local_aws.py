"""Exported templates: clean for every Region that sells Trainium, and deployed by boto3 alone in another Region than their own."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cfnlint.api
import pytest
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

from ultracluster_cli.exporting import export_assembly
from ultracluster_cli.rollout_waves import clusters_of
from ultracluster_local import LocalAws
from ultracluster_local.remote_seed import SeedImage, SeedReservation, seed
from ultracluster_stacks.config import load_rollout

pytestmark = [pytest.mark.synth, pytest.mark.deploy]

# Where Trainium or blocks of it were sold on some day, by the catalogue.
REGIONS = ["us-east-1", "us-east-2", "us-west-2", "ap-south-1", "ap-southeast-4", "eu-north-1"]
ELSEWHERE, ZONE_ID = "ap-southeast-4", "apse4-az1"
IMAGE_ID, RESERVATION_ID = "ami-0aaaaaaaaaaaaaaaa", "cr-0aaaaaaaaaaaaaaaa"
BUCKET = "code-of-a-user"
PARTS = ("network", "storage", "cluster")


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
        assert [f"{name}: {match}" for match in cfnlint.api.lint(text, regions=REGIONS)] == []


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


def test_the_same_rollout_gives_the_same_bytes(exported: Path) -> None:
    def content(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

    assert len(content(exported)) == 5
    assert content(exported) == content(exported.parent / "again")


@pytest.fixture(scope="module")
def place(local_aws_server: LocalAws, exported: Path) -> Iterator[LocalAws]:
    """A Region with an AMI, a block, and a bucket with the assets."""
    local_aws_server.reset()
    now = datetime.now(UTC)
    seed(
        endpoint=local_aws_server.endpoint,
        regions=[ELSEWHERE],
        images=[SeedImage(image_id=IMAGE_ID, region=ELSEWHERE)],
        reservations=[
            SeedReservation(
                reservation_id=RESERVATION_ID,
                region=ELSEWHERE,
                zone_id=ZONE_ID,
                instance_type="trn2.48xlarge",
                count=4,
                start=now,
                end=now + timedelta(days=1),
                block=True,
            )
        ],
    )
    s3 = local_aws_server.client("s3", ELSEWHERE)
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": ELSEWHERE})
    for path in (exported / "assets").iterdir():
        s3.put_object(Bucket=BUCKET, Key=path.name, Body=path.read_bytes())
    yield local_aws_server
    local_aws_server.reset()


def parameters(template: str) -> list[dict[str, str]]:
    given = {"ImageId": IMAGE_ID, "ReservationId": RESERVATION_ID, "ZoneId": ZONE_ID, "AssetBucket": BUCKET}
    declared = json.loads(template).get("Parameters", {})
    return [{"ParameterKey": name, "ParameterValue": given[name]} for name in declared]


def test_deploys_by_boto3_alone_in_another_region(place: LocalAws, templates: dict[str, str]) -> None:
    cloudformation = place.client("cloudformation", ELSEWHERE)
    for part in PARTS:
        cloudformation.create_stack(
            StackName=f"by-hand-{part}",
            TemplateBody=templates[part],
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
    assert len(names) == 1
