"""`ultracluster deploy --without-capacity` on the local AWS as on an account: it says what AWS says, starts and buys nothing, and leaves nothing."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.ec2.responses import EC2Response
from tests.app_project import write_project
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli.cost import estimate
from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import child_environment
from ultracluster_local.seeding.seed_client import SeedContainerImage, SeedImage, seed

pytestmark = pytest.mark.slow

REGION = "us-east-2"
STARTING = (
    "create_capacity_reservation",
    "create_fleet",
    "purchase_capacity_block",
    "purchase_capacity_block_extension",
    "request_spot_instances",
)

Rehearse = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's app in a folder of its own, with the quick start before its order is bought."""
    folder = tmp_path_factory.mktemp("project")
    text = QUICKSTART.read_text()
    bought = "reservation_id: cr-0123456789abcdef0"
    assert text.count(bought) == 1
    write_project(folder, text.replace(bought, "order: december"))
    return folder


@pytest.fixture
def started(record_calls: Callable[[Iterable[str]], list[str]], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the calls that start or buy something and reach the local AWS."""
    seen = record_calls(STARTING)
    launch = EC2Response.run_instances

    def run_instances(self: Any) -> Any:
        if not self.params.get("DryRun"):
            seen.append("run_instances")
        return launch(self)

    monkeypatch.setattr(EC2Response, "run_instances", run_instances)
    return seen


@pytest.fixture
def rehearse(
    local_aws: LocalAws,
    started: list[str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Rehearse]:
    """Rehearse with credentials, as on an account, and return code, JSON and messages."""
    variables = child_environment(endpoint=local_aws.endpoint, key=local_aws.key, region=REGION)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    monkeypatch.setattr(estimate, "listed_prices", lambda *_, **__: ({}, []))  # moto has no price list
    seed(
        endpoint=local_aws.endpoint,
        key=local_aws.key,
        regions=[REGION],
        images=[SeedImage(image_id="ami-0123456789abcdef0", region=REGION)],
        container_images=[SeedContainerImage(repository="training", tag="2026-11-20", region=REGION)],
        reservations=[],
    )

    def run(*options: str) -> dict[str, Any]:
        capsys.readouterr()
        code = main(["deploy", "--without-capacity", "--yes", "--json", *options])
        out, err = capsys.readouterr()
        rows = {row["code"]: row for row in (json.loads(out)["results"] if out else [])}
        return {"code": code, "rows": rows, "err": err}

    yield run
    assert started == []


def left(local: LocalAws) -> list[str]:
    """Everything of a rehearsal that is in the local AWS."""
    stacks = local.client("cloudformation", REGION).describe_stacks()["Stacks"]
    ec2, batch = local.client("ec2", REGION), local.client("batch", REGION)
    return [
        *(stack["StackName"] for stack in stacks if stack["StackName"].startswith("rehearsal-")),
        *(one["FileSystemId"] for one in local.client("fsx", REGION).describe_file_systems()["FileSystems"]),
        *(
            one["VpcEndpointId"]
            for one in ec2.describe_vpc_endpoints()["VpcEndpoints"]
            if one["State"] != "deleted"
        ),
        *(one["VpcId"] for one in ec2.describe_vpcs()["Vpcs"] if not one["IsDefault"]),
        *(
            one["computeEnvironmentName"]
            for one in batch.describe_compute_environments()["computeEnvironments"]
        ),
        *(
            one["Name"]
            for one in local.client("s3", REGION).list_buckets()["Buckets"]
            if "rehearsal" in one["Name"]
        ),
        *(
            one["InstanceId"]
            for group in ec2.describe_instances()["Reservations"]
            for one in group["Instances"]
        ),
    ]


def test_a_sound_rollout_passes_and_nothing_is_left(rehearse: Rehearse, local_aws: LocalAws) -> None:
    outcome = rehearse()

    assert outcome["code"] == 0, outcome["err"]
    assert {code for code, row in outcome["rows"].items() if row["status"] == "FAIL"} == set()
    shown = {code: row["status"] for code, row in outcome["rows"].items() if code.startswith("UC97")}
    assert {code for code, status in shown.items() if status != "PASS"} == {"UC9715"}
    assert shown["UC9715"] == "WARN"  # EC2 ends at the reservation, which is a placeholder
    assert outcome["err"].index("The rehearsal costs at most") < outcome["err"].index("PASS UC9401")
    assert left(local_aws) == []
    name = "/ultracluster/rehearsals/quickstart"
    record = json.loads(local_aws.client("ssm", REGION).get_parameter(Name=name)["Parameter"]["Value"])
    assert record["failures"] == []
    assert record["passed"] > 20


def test_a_second_rehearsal_is_refused_until_the_first_is_cleaned(
    rehearse: Rehearse, local_aws: LocalAws, project: Path
) -> None:
    local_aws.client("cloudformation", REGION).create_stack(
        StackName="rehearsal-quickstart-us-east-2-Network",
        TemplateBody=json.dumps({"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}),
        Tags=[{"Key": "ultracluster:rehearsal", "Value": "rehearsal-quickstart"}],
    )

    outcome = rehearse()

    assert outcome["code"] == 2
    assert (
        outcome["err"].count("error: rehearsal-quickstart-us-east-2-Network in us-east-2 is CREATE_COMPLETE")
        == 1
    )
    assert rehearse("--clean")["err"].endswith("Removed 1 stacks of rehearsals.\n")
    assert left(local_aws) == []
    assert rehearse("--clean")["err"].endswith("Removed 0 stacks of rehearsals.\n")
    assert project.exists()
