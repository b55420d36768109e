"""Twenty changes of a cluster in an app: what the page says of each, what the plan says, and what the local AWS does."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.integration.test_plan_on_local_aws import Deployed, expected_failure, expected_moves, moves
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, REGION, RESERVATION, ZONE

import ultracluster as uc
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_local import LocalAws
from ultracluster_stacks.plan import Action, Plan, StackTemplate, compare

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs/reference/plan.md"
OTHER_BLOCK = "cr-0123456789abcdef1"


def block(**changes: Any) -> uc.CapacityBlock:
    return uc.CapacityBlock(**{"reservation_id": RESERVATION, "zone_id": ZONE} | changes)


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "more nodes": {"node_count": 6},
    "another AMI": {"image_id": "ami-0123456789abcdef1"},
    "a larger root volume": {"root_volume": uc.RootVolume(size_gib=400)},
    "the next block": {"capacity": block(reservation_id=OTHER_BLOCK)},
    "a block in another zone": {"capacity": block(reservation_id=OTHER_BLOCK, zone_id="use2-az1")},
    "a second source with a name": {"capacity": [block(), uc.OnDemand(name="spill", max_nodes=2)]},
    "a name for the only source": {"capacity": block(name="main")},
    "recipients where there were none": {"notify": ["a@example.com"]},
    "no alarms": {"alarms": uc.Alarms(enabled=False)},
    "shares": {"queue": uc.Queue(shares={"research": 4})},
    "another priority": {"queue": uc.Queue(priority=5)},
    "a second queue": {"add_queue": "urgent"},
    "another job": {"jobs": {"Pretrain": {}, "Tune": {}}},
    "the first job that resumes": {"jobs": {"Pretrain": {"resume": 3}}},
    "another image of a job": {"jobs": {"Pretrain": {"image": f"{IMAGE}-2"}}},
    "a larger file system": {"file_system": uc.FileSystem(storage_capacity_gib=9600)},
    "a smaller file system": {"file_system": uc.FileSystem(storage_capacity_gib=2400)},
    "another deployment type of the file system": {"file_system": uc.FileSystem(deployment_type="SCRATCH_2")},
    "scratch": {"scratch_path": "/scratch"},
    "more tags": {"tags": {"team": "red"}},
}


def synthesized(
    directory: Path, *, jobs: Mapping[str, Any] | None = None, add_queue: str | None = None, **changes: Any
) -> list[StackTemplate]:
    app = cdk.App(outdir=str(directory), analytics_reporting=False)
    stack = cdk.Stack(app, "Training", env=cdk.Environment(region=REGION))
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "capacity": block()}
    cluster = uc.UltraCluster(stack, "Cluster", **given | changes)
    for name, job in (jobs or {"Pretrain": {}}).items():
        cluster.add_multi_node_job(name, uc.Job(**{"image": IMAGE, "command": ("train.py",)} | job))
    if add_queue:
        cluster.add_queue(add_queue)
    app.synth()
    return assembled_stacks(directory)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("base")
    synthesized(directory)
    return directory


def outcome(plan: Plan) -> str:
    changes = [change for stack in plan.stacks for change in stack.changes]
    if any(stop.allow is None for stop in plan.stops()):
        return "refused"
    kept = {Action.ADD, Action.UPDATE}
    return "in place" if all(change.action in kept for change in changes) else "replaced"


def test_the_page_says_of_each_change_what_the_plan_says(base: Path, tmp_path: Path) -> None:
    rows = re.findall(r"^\| ([^|]+) \| (in place|replaced|refused) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    before = assembled_stacks(base)
    planned = {
        name: outcome(compare(before, synthesized(tmp_path / str(number), **change)))
        for number, (name, change) in enumerate(CHANGES.items())
    }
    assert planned == dict(rows)
    assert len(rows) == len(CHANGES) == 20


@pytest.fixture(scope="module")
def deployed(local_aws_server: LocalAws, base: Path) -> Iterator[Deployed]:
    deployed = Deployed(local_aws_server, base)
    deployed.start()
    yield deployed
    local_aws_server.reset()


@pytest.mark.deep
@pytest.mark.parametrize("name", CHANGES)
def test_the_local_aws_does_what_the_plan_says(deployed: Deployed, tmp_path: Path, name: str) -> None:
    after = synthesized(tmp_path, **CHANGES[name])
    plan = compare(deployed.base, after)
    ids = deployed.ids()

    failed = deployed.deploy(after)

    try:
        assert failed == expected_failure(plan)
        if failed is None:
            assert moves(ids, deployed.ids(), ["Training"]) == expected_moves(plan, ["Training"])
    finally:
        deployed.restore()
