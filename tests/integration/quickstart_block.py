"""The quick start in its Capacity Block, on the local AWS."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

from ultracluster_cli._aws.local_target import node_files
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_capacity_block, seed_from_request

REGION = "us-east-2"
RESERVATION = "cr-0123456789abcdef0"
BLOCK = {
    "reservation_id": RESERVATION,
    "region": REGION,
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "count": 4,
    "start": "2030-01-01T11:30:00+00:00",
    "end": "2030-01-15T11:30:00+00:00",
    "block": True,
}
IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training"
"""The repository of the image of its jobs."""


def seed_block(start: datetime, end: datetime) -> None:
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=start,
        end=end,
        region=REGION,
    )


def synthesize(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    """Synthesize the quick start with other texts for some of its own; return the folder of the assembly."""
    text = QUICKSTART.read_text()
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "rollout.yaml").write_text(text)
    done = synthesize_rollout(folder / "rollout.yaml", folder / "cdk.out")
    assert done.returncode == 0, done.stderr
    return folder / "cdk.out"


def deploy(local: LocalAws, assembly: Path) -> None:
    deployed = deploy_assembly(local, assembly)
    assert {(each.status, each.reason) for each in deployed} == {("CREATE_COMPLETE", "")}


def deploy_to_run_jobs(local: LocalAws, assembly: Path, programs: Path) -> None:
    """Deploy to nodes that are processes: the programs of the folder are those of the image."""
    image = {"image_id": "ami-0123456789abcdef0", "region": REGION, "files": node_files(), "shared": "/fsx"}
    seed_from_request(local._started(), {"regions": [REGION], "images": [image], "reservations": [BLOCK]})
    deploy(local, assembly)
    local.run_jobs(JobSettings(images={IMAGE: programs}))
