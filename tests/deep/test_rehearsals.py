"""`ultracluster deploy --without-capacity`, killed with kill -9 at random instants on the local AWS: cleaning leaves nothing that costs.

In small: ``UC_KILLS=10 python -m pytest -m deep tests/deep/test_rehearsals.py``.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app_project import write_project
from tests.processes import descendants, wait_until_gone

from ultracluster_local.instance.clients import Clients
from ultracluster_local.server.daemon import status

pytestmark = [pytest.mark.deep, pytest.mark.slow]

KILLS = int(os.environ.get("UC_KILLS", "50"))
REGION = "us-east-2"
Tried = Callable[[str, str], None]


def command(*arguments: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        "import sys; from ultracluster_cli.main import main; sys.exit(main())",
        *arguments,
    ]


def ultracluster(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=project, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Path]:
    """This repository's app in a folder of its own, with a local AWS in the background and an order that is not bought."""
    root = request.config.rootpath
    folder = tmp_path_factory.mktemp("project")
    text = (root / "stacks/rollouts/quickstart.yaml").read_text()
    write_project(folder, text.replace("reservation_id: cr-", "order: december # cr-"))
    up = ultracluster(folder, "local", "up")
    try:
        assert up.returncode == 0, up.stderr
        yield folder
    finally:
        ultracluster(folder, "local", "down")


def costing(client: Callable[[str, str], Any]) -> dict[str, int]:
    """What is in the account and costs, or could start something that does, by kind."""
    ec2, batch = client("ec2", REGION), client("batch", REGION)
    stacks = client("cloudformation", REGION).describe_stacks()["Stacks"]
    found = {
        "stacks": [stack for stack in stacks if stack["StackName"].startswith("rehearsal-")],
        "instances": [
            instance
            for reservation in ec2.describe_instances()["Reservations"]
            for instance in reservation["Instances"]
        ],
        "reservations": ec2.describe_capacity_reservations()["CapacityReservations"],
        "endpoints": [
            one for one in ec2.describe_vpc_endpoints()["VpcEndpoints"] if one["State"] != "deleted"
        ],
        "file systems": client("fsx", REGION).describe_file_systems()["FileSystems"],
        "environments": batch.describe_compute_environments()["computeEnvironments"],
        "queues": batch.describe_job_queues()["jobQueues"],
        "functions": client("lambda", REGION).list_functions()["Functions"],
        "tables": client("dynamodb", REGION).list_tables()["TableNames"],
        "alarms": client("cloudwatch", REGION).describe_alarms()["MetricAlarms"],
        "buckets": [
            one
            for one in client("s3", REGION).list_buckets()["Buckets"]
            if one["Name"].startswith("rehearsal-")
        ],
    }
    return {kind: len(values) for kind, values in found.items() if values}


def test_cleaning_after_kill_9_leaves_nothing_that_costs(project: Path, tried: Tried) -> None:
    running = status(project / ".ultracluster" / "local")
    assert running is not None
    client = Clients(endpoint=running.endpoint, key=running.key).get
    whole = ultracluster(project, "deploy", "--without-capacity", "--local")
    assert whole.returncode == 0, whole.stderr
    assert costing(client) == {}
    chance = random.Random(20261122)  # noqa: S311 - instants, not secrets
    seconds = 600.0  # the next one is not killed, and says how long the others last
    killed = ended = left_before_cleaning = 0
    while killed < KILLS:
        # Most kills come late: an early one has nothing to leave behind.
        instant = seconds * chance.random() ** 0.5 if ended else seconds
        start = time.monotonic()
        with subprocess.Popen(
            command("deploy", "--without-capacity", "--local"),
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                process.wait(instant)
            except subprocess.TimeoutExpired:
                killed += 1
            else:  # it was over before: kills come earlier from now on
                assert process.returncode == 0
                seconds = min(seconds, time.monotonic() - start)
                ended += 1
            children = descendants(process.pid)
            process.kill()
        assert wait_until_gone(children, seconds=10) == []
        left_before_cleaning += bool(costing(client))

        clean = ultracluster(project, "deploy", "--without-capacity", "--local", "--clean")

        assert clean.returncode == 0, clean.stderr
        assert costing(client) == {}
    tried(
        "rehearsals",
        f"{killed} kill -9, each in a rehearsal of {seconds:.0f} s ({ended} others ended before theirs); "
        f"{left_before_cleaning} left stacks, 0 after cleaning",
    )
    assert left_before_cleaning > KILLS // 10
