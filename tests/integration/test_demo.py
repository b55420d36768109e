"""`ultracluster demo` with the real commands and the real CDK CLI buys once, even if it is killed and repeated."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.app_project import write_project
from tests.diaries.record import chapters, commands, recorded
from tests.diaries.terminal import shown as screen_of
from tests.processes import descendants, wait_until_gone

from ultracluster_local.instance.clients import Clients
from ultracluster_local.server.daemon import Status, status

pytestmark = pytest.mark.slow

# Put before a program that runs a local AWS: a line for each purchase that is executed, dry runs not counted. The purchase
# is answered only when there is no file `withhold`, so that a test can kill the buyer after EC2 has sold.
COUNTING = """
import os, pathlib, sys, time
from ultracluster_local.instance.environment import remove_profiles
profiles = remove_profiles()  # as the local AWS does while it imports moto
from ultracluster_local.services.ec2 import capacity_blocks as ec2_capacity_blocks
from ultracluster_local.services.ec2 import capacity_extensions as ec2_capacity_extensions
os.environ.update(profiles)

def count(table, operation):
    answer = table[operation]
    def counted(request):
        sold = answer(request)
        with pathlib.Path(os.environ["PURCHASES"]).open("a") as purchases:
            purchases.write(operation + "\\n")
        while pathlib.Path(os.environ["PURCHASES"]).with_name("withhold").exists():
            time.sleep(0.02)
        return sold
    table[operation] = counted

count(ec2_capacity_blocks.handlers.table, "PurchaseCapacityBlock")
count(ec2_capacity_extensions.handlers.table, "PurchaseCapacityBlockExtension")
"""
COMMAND_LINE = COUNTING + "from ultracluster_cli.main import main; sys.exit(main())"
DAEMON = (
    COUNTING
    + "from ultracluster_local.server import daemon; sys.exit(daemon._serve(pathlib.Path(sys.argv[3]), 0))"
)


@dataclass(frozen=True, slots=True)
class Project:
    """This repository's app, run in a folder of its own."""

    folder: Path

    def start(self) -> subprocess.Popen[str]:
        """Start the demo in an environment in which anything of the user's AWS would fail or lead away."""
        elsewhere = "http://192.0.2.1:9"
        environment = os.environ | {
            "PURCHASES": str(self.folder / "purchases"),
            "AWS_PROFILE": "prod",
            "AWS_ACCESS_KEY_ID": "AKIAUSER",
            "AWS_ENDPOINT_URL": elsewhere,
            "HTTP_PROXY": elsewhere,
            "http_proxy": elsewhere,
            "ULTRACLUSTER_LEDGER": "the-ledger-of-the-user",
        }
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND_LINE, "demo", "--json"],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def demo(self) -> tuple[dict[str, Any], str]:
        """Run the demo to its end; give its JSON and what it said."""
        with self.start() as process:
            stdout, stderr = process.communicate()
        assert process.returncode == 0, stderr
        told: dict[str, Any] = json.loads(stdout)
        return told, stderr

    def purchases(self) -> list[str]:
        """The purchases that local AWSs have executed since the last call."""
        counted = self.folder / "purchases"
        lines = counted.read_text().splitlines() if counted.exists() else []
        counted.unlink(missing_ok=True)
        return lines


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    write_project(folder)
    return Project(folder)


def targeted(told: dict[str, Any]) -> str:
    """The reservation in the launch template of the one cluster, read back."""
    (cluster,) = told["clusters"]
    reservation: str = cluster["reservation"]["id"]
    return reservation


def test_the_demo_buys_one_block_deploys_and_trains_on_it_into_its_extension(project: Project) -> None:
    told, said = project.demo()

    assert project.purchases() == ["PurchaseCapacityBlock", "PurchaseCapacityBlockExtension"]
    (purchase,) = told["purchases"]
    assert (purchase["state_before"], purchase["state"]) == (None, "PAID")
    assert targeted(told) == purchase["reservation_id"]
    (cluster,) = told["clusters"]
    assert cluster["reservation"]["instances"] == cluster["nodes"] == 4
    assert cluster["reservation"]["market_type"] == "capacity-block"
    assert cluster["reservation"]["ends"] == purchase["end"]
    assert {stack["status"] for stack in cluster["stacks"]} == {"CREATE_COMPLETE"}
    assert purchase["reservation_id"] in Path(told["rollout"]).read_text()
    assert purchase["fee"] == "48062.52"  # 35.7608 USD for 4 nodes and 336 hours
    assert [said.count(amount) for amount in ("48,062.52 USD", "24,031.26 USD")] == [2, 1]
    job = told["job"]
    assert f"Capacity Block {purchase['reservation_id']} ends" in job["reason"]
    assert job["resumed"] != job["job"]
    assert job["first_step"] == job["checkpoint"] > 100
    ((first, last),) = re.findall(r"Loss ([\d.]+) █\S{9} ([\d.]+)\.", said)
    assert float(last) < float(first) / 2
    assert "<svg" in Path(told["picture"]).read_text()
    # docs/gallery/demo.md; `python -m tests.diaries.record` makes it anew.
    screen = screen_of(recorded())
    assert commands(said) == commands(screen)
    assert chapters(said) == chapters(screen)


@pytest.fixture(scope="module")
def background(project: Project) -> Iterator[Status]:
    """A local AWS in the background, as `ultracluster local up` starts it, which counts purchases."""
    directory = project.folder / ".ultracluster" / "local"
    directory.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PURCHASES": str(project.folder / "purchases")}
    # With the arguments by which a server is told from other processes.
    arguments = ["-m", "ultracluster_local.server.daemon", str(directory), "0"]
    with subprocess.Popen([sys.executable, "-c", DAEMON, *arguments], env=environment) as process:
        try:
            deadline = time.monotonic() + 60
            while (running := status(directory)) is None:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield running
        finally:
            process.terminate()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds child processes in /proc")


@pytest.fixture(scope="module")
def killed(project: Project, background: Status) -> list[str]:
    """A demo that was killed when EC2 had sold and not yet answered; gives the purchases until then."""
    assert background
    withhold = project.folder / "withhold"
    withhold.touch()
    with project.start() as process:
        wait_for(project.folder / "purchases", process)
        children = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
    assert len(children) >= 2  # a supervisor and the buyer
    assert wait_until_gone(children) == []  # so that nobody hears the answer
    withhold.unlink()
    return project.purchases()


@pytest.fixture(scope="module")
def after_kill(project: Project, killed: list[str]) -> tuple[dict[str, Any], str, list[str]]:
    """The demo started again: its JSON, what it said, and the purchases meanwhile."""
    assert killed == ["PurchaseCapacityBlock"]
    return *project.demo(), project.purchases()


@needs_proc
@pytest.mark.deep
def test_a_demo_that_was_killed_while_buying_is_finished_without_a_second_purchase(
    after_kill: tuple[dict[str, Any], str, list[str]], background: Status
) -> None:
    told, said, purchases = after_kill

    assert purchases == []
    (purchase,) = told["purchases"]
    assert purchase["state_before"] == "SENDING"
    assert targeted(told) == purchase["reservation_id"]
    ec2 = Clients(endpoint=background.endpoint, key=background.key).get("ec2", "us-east-2")
    held = ec2.describe_capacity_reservations()["CapacityReservations"]
    assert [one["CapacityReservationId"] for one in held] == [purchase["reservation_id"]]
    assert told["changed"] is True
    assert "is already in the ledger (SENDING)" in said


@needs_proc
@pytest.mark.deep
def test_on_the_same_local_aws_the_demo_buys_and_changes_nothing(
    project: Project, after_kill: tuple[dict[str, Any], str, list[str]]
) -> None:
    told, said = project.demo()

    assert project.purchases() == []
    assert told["job"] is None  # the clock of the user's local AWS is not moved
    assert told["changed"] is False
    assert said.count(": no changes") == 3
    (purchase,) = told["purchases"]
    assert purchase["state_before"] == "PAID"
    assert targeted(told) == targeted(after_kill[0]) == purchase["reservation_id"]
