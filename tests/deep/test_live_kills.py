"""A live run of tier 2 on the local AWS, killed at random instants: it goes on, pays nothing twice and leaves nothing that costs."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from moto.ec2.responses import EC2Response
from tests.live.journal import Journal
from tests.live.plan import questions
from tests.live.session import Where

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
RUN_ID = "261122cd34"
BUDGET = Decimal(180)
KILLS = int(os.environ.get("UC_KILLS", "50"))
SEED = int(os.environ.get("UC_FUZZ_SEED", "17"))
ASKED = ("L117", "L115", "L83", "L45", "L48", "L4", "L101", "L47", "L31", "L32", "L78")
REGIONS = ("us-east-1", "us-east-2", "sa-east-1")


@pytest.fixture
def spent(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:  # noqa: ARG001 - its calls exist once it runs
    """Purchases, and instances by the question in their tags, as they reach the local AWS."""
    seen: Counter[str] = Counter()
    launch, purchase = EC2Response.run_instances, EC2Response.purchase_capacity_block

    def launched(response: Any) -> Any:
        given = response._get_params()
        tags = [
            tag
            for each in given.get("TagSpecification", given.get("TagSpecifications", []))
            for tag in each.get("Tag", each.get("Tags", []))
        ]
        names = {tag["Value"] for tag in tags if tag["Key"] == "ultracluster:live-question"}
        seen[f"instances of {''.join(sorted(names))}"] += int(given["MaxCount"])
        return launch(response)

    def bought(response: Any) -> Any:
        seen["purchases"] += 1
        return purchase(response)

    monkeypatch.setattr(EC2Response, "run_instances", launched)
    monkeypatch.setattr(EC2Response, "purchase_capacity_block", bought)
    return seen


def start(local: LocalAws, state: Path, *arguments: str) -> subprocess.Popen[bytes]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    variables |= {name: value for name, value in local.environment().items() if name.startswith("AWS_")}
    with (state.parent / "output.log").open("ab") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.live",
                *arguments,
                "--account",
                "123456789012",
                "--run",
                RUN_ID,
                "--state",
                str(state),
            ],
            cwd=ROOT,
            env=variables,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def run(local: LocalAws, state: Path) -> subprocess.Popen[bytes]:
    return start(local, state, "run", "--until", "2", "--budget", str(BUDGET), "--only", *ASKED)


def what_costs(local: LocalAws) -> Iterator[str]:
    where = Where(endpoint=local.endpoint, key=local.key)
    for region in REGIONS:
        alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        for group in where.client("ec2", region).describe_instances(Filters=alive)["Reservations"]:
            yield from (each["InstanceId"] for each in group["Instances"])
        for each in where.client("ec2", region).describe_capacity_reservations()["CapacityReservations"]:
            if each["ReservationType"] != "capacity-block" and each["State"] == "active":
                yield each["CapacityReservationId"]
        yield from (
            each["FileSystemId"]
            for each in where.client("fsx", region).describe_file_systems()["FileSystems"]
        )
        yield from (
            each["StackName"] for each in where.client("cloudformation", region).describe_stacks()["Stacks"]
        )
        batch = where.client("batch", region).describe_compute_environments()["computeEnvironments"]
        yield from (each["computeEnvironmentName"] for each in batch)


def check(local: LocalAws, state: Path, spent: Counter[str], when: str) -> None:
    journal = Journal(state / RUN_ID)
    reserved = journal.reserved
    begun = Counter(event["question"] for event in journal.of("reserve"))
    journal.close()
    assert reserved <= BUDGET, f"{when}: {reserved} USD are reserved"
    assert spent["purchases"] <= 1, f"{when}: {spent['purchases']} purchases"
    for name, question in questions().items():
        assert spent[f"instances of {name}"] <= question.nodes, f"{when}: {spent}"
        if question.usd and not (question.stands or question.buys):
            assert begun[name] <= 1, f"{when}: {name} was paid {begun[name]} times"
    assert list(what_costs(local)) == [], when


def test_a_killed_run_goes_on_pays_nothing_twice_and_leaves_nothing(
    local_aws: LocalAws, tmp_path: Path, spent: Counter[str], tried: Callable[[str, str], None]
) -> None:
    chance = random.Random(SEED)  # noqa: S311 - instants, not secrets
    first = tmp_path / "whole" / "state"
    first.parent.mkdir()
    for region in REGIONS:
        local_aws.client("ec2", region)
    assert run(local_aws, first).wait(600) in {0, 1}, (first.parent / "output.log").read_text()[-3000:]
    templates = first / RUN_ID / f"live-{RUN_ID}-us-east-1"
    assert templates.exists(), (first.parent / "output.log").read_text()[-3000:]
    assert spent["purchases"] == 1
    check_cleaned(local_aws, first, spent, "without a kill")
    lasted = 600.0  # the run of number 0 is not killed, and says how long the others last
    killed = ended = continued = left_before_cleaning = number = 0
    while killed < KILLS:
        local_aws.reset()
        spent.clear()
        for region in REGIONS:
            local_aws.client("ec2", region)
        state = tmp_path / str(number) / "state"
        # Exporting again would take seconds, in which nothing that costs is there.
        shutil.copytree(templates, state / RUN_ID / templates.name)
        instant = chance.uniform(0, lasted) if number else lasted
        begun = time.monotonic()
        process = run(local_aws, state)
        try:
            process.wait(instant)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
            left_before_cleaning += any(what_costs(local_aws))
            if killed % 2:  # half of the runs go on, the others are only cleaned up after
                run(local_aws, state).wait(600)
                continued += 1
        else:  # it was over before: kills come earlier from now on
            assert spent["purchases"] == 1, (state.parent / "output.log").read_text()[-3000:]
            lasted = min(lasted, time.monotonic() - begun)
            ended += 1
        check_cleaned(local_aws, state, spent, f"run {number}, {instant:.1f} of {lasted:.1f} s")
        number += 1
    tried(
        "live run",
        f"{killed} kill -9, each in a live run of {lasted:.0f} s ({ended} others ended before theirs); "
        f"{left_before_cleaning} left what costs, {continued} went on; 0 left after cleaning, 0 paid twice, "
        "0 above the budget",
    )
    assert left_before_cleaning > KILLS // 10


def check_cleaned(local: LocalAws, state: Path, spent: Counter[str], when: str) -> None:
    assert start(local, state, "clean").wait(600) == 0, (state.parent / "output.log").read_text()[-3000:]
    check(local, state, spent, when)
