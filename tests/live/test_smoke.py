"""The runner on the local AWS: it plans, asks over the wire, leaves a record and cleans; money that was not reserved stays."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.session import Session
from tests.live.janitor import RUN_TAG
from tests.live.journal import INTERRUPTED, SHOWN
from tests.live.page import PAGE, facts, page
from tests.live.question import Cost, Question, planned, questions
from tests.live.records import load, load_all, mask
from tests.live.session import BudgetError, Live, Run, Where
from tests.live.wire import OutsideReservationError

from ultracluster_local import LocalAws
from ultracluster_runtime.preflight.live_facts import LIVE_FACTS_FILE
from ultracluster_runtime.preflight.reader import ALLOWED_CALLS
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.rehearsal.checks import PROBE_CHECKS, REHEARSAL_CHECKS

pytestmark = pytest.mark.slow

LIVE = Path(__file__).parent
ACCOUNT, RUN_ID = "123456789012", "261122ab12"
ASKED = ("L107", "L109", "L20", "L30")


def command(*arguments: str, local: LocalAws) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.live", *arguments],
        cwd=LIVE.parents[1],
        env=local.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done.stdout


def made(local: LocalAws, run_id: str) -> str:
    tags = [{"Key": RUN_TAG, "Value": run_id}]
    return str(
        local.client("ec2", "us-east-1").create_security_group(
            GroupName=run_id,
            Description="left by a run",
            TagSpecifications=[{"ResourceType": "security-group", "Tags": tags}],
        )["GroupId"]
    )


def test_a_run_is_planned_asked_over_the_wire_and_cleaned_up(local_aws: LocalAws, tmp_path: Path) -> None:
    of_run = ["--account", ACCOUNT, "--run", RUN_ID, "--state", str(tmp_path)]

    plan = command("plan", "--until", "1", "--only", *ASKED, local=local_aws)
    first = command("run", "--until", "1", "--budget", "12", *of_run, "--only", *ASKED, local=local_aws)
    again = command("run", "--until", "1", "--budget", "12", *of_run, "--only", *ASKED, local=local_aws)
    left, other = (made(local_aws, run_id) for run_id in (RUN_ID, "261122fa11"))
    cleaned = command("clean", *of_run, local=local_aws)

    names = [question.id for question in planned(1, ASKED)]
    assert sorted(names) == sorted(ASKED)
    assert all(f"  {name} " in plan for name in names)
    (path,) = (tmp_path / RUN_ID).glob("*.json")
    asked = {question["id"]: question["verdict"] for question in load(path)["questions"]}
    assert asked == dict.fromkeys(names, SHOWN), first
    assert again.count("was answered in this run before: shown") == len(names)
    assert "Nothing of run" in cleaned
    groups = local_aws.client("ec2", "us-east-1").describe_security_groups()["SecurityGroups"]
    assert {left, other} & {group["GroupId"] for group in groups} == {other}
    assert local_aws.client("cloudformation").describe_stacks()["Stacks"] == []


# Money


def paid(number: str, cost: Cost, ask: Callable[[Live], None], **more: int) -> Question:
    return Question(id=number, title="Is it paid?", decides="small", tier=1, cost=cost, ask=ask, **more)


@pytest.fixture
def run(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)
    where = Where(endpoint=local_aws.endpoint, sleep=lambda _: None, now=local_aws.clock.now)
    made = Run(RUN_ID, where, tmp_path / RUN_ID, budget=Decimal(10))
    yield made
    made.journal.close()


def test_what_does_not_fit_into_the_budget_does_not_begin_and_what_was_not_reserved_is_not_sent(
    run: Run,
) -> None:
    def launch(live: Live) -> None:
        live.client("ec2").run_instances(
            MinCount=2, MaxCount=2, ImageId="ami-12345678", InstanceType="t3.micro"
        )

    with pytest.raises(BudgetError, match=r"L901 may cost 100\.00 USD; 0 of 10 USD"):
        run.ask(paid("L901", Cost(once=Decimal(100)), lambda _: pytest.fail("begun")))
    with pytest.raises(OutsideReservationError, match="L900 has reserved 1 nodes"):
        run.ask(paid("L900", Cost(hourly=Decimal(2)), launch, nodes=1))

    assert run.where.client("ec2").describe_instances()["Reservations"] == []


def test_a_purchase_is_sent_once_even_if_the_run_is_interrupted(run: Run) -> None:
    run.budget = Decimal(500)
    ec2 = run.where.client("ec2", run.where.block_region)
    market = {"InstanceType": "trn2.3xlarge", "InstanceCount": 1, "CapacityDurationHours": 24}
    (offer, *_) = ec2.describe_capacity_block_offerings(**market)["CapacityBlockOfferings"]

    def buy(live: Live) -> None:
        live.client("ec2", live.block_region).purchase_capacity_block(
            CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
        raise KeyboardInterrupt

    bought = paid("L901", Cost(once=Decimal(100)), buy, buys=1)
    with pytest.raises(KeyboardInterrupt):
        run.ask(bought)
    assert run.journal.verdict("L901") == INTERRUPTED
    with pytest.raises(OutsideReservationError, match="L901 has reserved 1 buys"):
        run.ask(bought)

    assert len(ec2.describe_capacity_reservations()["CapacityReservations"]) == 1
    assert run.journal.reserved == Decimal("100.00")  # the fee is reserved once


# What is published


def test_a_record_names_no_account_no_resource_and_nobody() -> None:
    secret = {
        "arn": "arn:aws:sts::998877665544:assumed-role/Admin-of-us/jane",
        "id": "i-0abcdef1234567890",
        "address": "10.11.12.13",
        "UserData": "aW4g",
    }

    masked = mask(secret, account="998877665544", run=RUN_ID)

    assert masked == {
        "arn": "arn:aws:sts::123456789012:assumed-role/name-1",
        "id": "i-00000000000000001",
        "address": "192.0.2.1",
        "UserData": "MASKED",
    }


def test_page_and_table_are_those_of_the_questions_and_records() -> None:
    assert PAGE.read_text("utf-8") == page(load_all()), "run `make live DO=publish`"
    assert LIVE_FACTS_FILE.read_text("utf-8") == facts(load_all()), "run `make live DO=publish`"


def test_each_question_names_checks_that_there_are() -> None:
    known = {check.code for check in (*CHECKS, *REHEARSAL_CHECKS, *PROBE_CHECKS)}

    assert {code for question in questions().values() for code in question.checks} <= known


SOURCES = (
    ("__main__.py", "free.py"),
    ("small.py", "cluster.py", "session.py", "janitor.py"),
    ("block.py",),
)
SERVICES = (
    *("batch", "cloudformation", "cloudtrail", "ec2", "ecs", "fsx", "iam", "logs", "s3", "scheduler"),
    *("service-quotas", "ssm", "sts"),
)
OTHER_ACTIONS = {
    "s3:DeleteObject": "s3:DeleteObjectVersion",
    "s3:ListBuckets": "s3:ListAllMyBuckets",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
}
IMPLIED = {"batch:TagResource", "cloudformation:TagResource", "ec2:CreateTags", "iam:PassRole", "iam:TagRole"}


def called(tier: int) -> set[str]:
    """The actions that the calls of a tier need, as its modules name them."""
    text = "".join((LIVE / name).read_text("utf-8") for name in SOURCES[tier])
    names = set(re.findall(r"[.\"](\w+)[\"(]", text))
    found = (
        set(IMPLIED)
        if tier
        else {call.replace("service-quotas:", "servicequotas:") for call in ALLOWED_CALLS}
    )
    for service in SERVICES:
        prefix = service.replace("-", "")
        for operation in Session().get_service_model(service).operation_names:
            if xform_name(operation) in names:
                found.add(OTHER_ACTIONS.get(f"{prefix}:{operation}", f"{prefix}:{operation}"))
    return found


def test_the_policies_hold_what_the_questions_call_and_nothing_else() -> None:
    known: set[str] = set()
    for tier in range(3):
        statements = json.loads((LIVE / f"tier_policies/tier{tier}.json").read_text("utf-8"))["Statement"]
        actions = {action for each in statements for action in each["Action"]}

        assert actions == called(tier) - known, f"tier {tier}"
        known |= actions
