"""The live suite itself: its questions, budget, journal, records and page; a run over the wire, and what it refuses."""

import copy
import datetime as dt
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.live.asking import ask, obstacle
from tests.live.field_cases import write_cases
from tests.live.journal import INTERRUPTED, SHOWN, Journal, JournalError
from tests.live.page import PAGE, facts, page
from tests.live.plan import planned, questions
from tests.live.question import FREE, MARGIN_MINUTES, Cost, Question, cost_in_order, ordered
from tests.live.records import RecordError, load, load_all, mask, record_of, write
from tests.live.session import BudgetError, Live, Run, Where, net_template
from tests.live.stand_ins import FAULTS
from tests.live.wire import OutsideReservationError

from ultracluster_cli.preflight.command import print_results, report_result, result_row
from ultracluster_local import LocalAws
from ultracluster_runtime.preflight import live_facts
from ultracluster_runtime.preflight.check import passed
from ultracluster_runtime.preflight.live_facts import LIVE_FACTS_FILE
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_runtime.rehearsal.checks import PROBE_CHECKS, REHEARSAL_CHECKS

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
RUN_ID = "261122ab12"
PAID = Question(
    id="L900",
    title="Is it paid?",
    steps="",
    tier=1,
    cost=Cost(hourly=Decimal(2), what="x"),
    minutes=30,
    nodes=1,
    test="t",
)
BOUGHT = Question(
    id="L901",
    title="Is it bought?",
    steps="",
    tier=2,
    cost=Cost(once=Decimal(100), what="x"),
    buys=1,
    test="t",
)


@pytest.fixture
def run(local_aws: LocalAws, tmp_path: Path) -> Any:
    where = Where(
        endpoint=local_aws.endpoint, key=local_aws.key, sleep=lambda _: None, now=local_aws.clock.now
    )
    for region in where.regions:
        local_aws.client("ec2", region)
    made = Run(RUN_ID, where, tmp_path / RUN_ID, budget=Decimal(10))
    yield made
    made.journal.close()


# Questions


def test_every_question_that_the_local_aws_can_ask_has_a_fault_that_makes_it_fail() -> None:
    asked = {question.id for question in questions().values() if question.test and not question.local}

    assert len(asked) > 30
    assert asked == set(FAULTS)


def test_each_question_has_a_test_or_the_reason_why_not() -> None:
    assert len(questions()) >= 90
    for question in questions().values():
        assert bool(question.test) != bool(question.reason), question.id
        assert question.title.endswith("?"), question.id
        assert question.steps, question.id


def test_questions_come_by_tier_then_by_cost_and_after_what_they_need() -> None:
    order = ordered(questions().values())

    assert [question.tier for question in order] == sorted(question.tier for question in order)
    places = {question.id: place for place, question in enumerate(order)}
    assert [q.id for q in order for need in q.needs if places[need] > places[q.id]] == []
    assert {question.usd for question in order if question.tier == 0} == {Decimal(0)}


def test_a_question_that_needs_itself_is_refused() -> None:
    circle = [Question(id=f"L{n}", title="?", steps="", tier=0, needs=(f"L{3 - n}",)) for n in (1, 2)]

    with pytest.raises(ValueError, match="L1, L2 need"):
        ordered(circle)


def test_what_stands_is_paid_until_the_last_question_that_needs_it() -> None:
    cluster = Question(
        id="L1", title="?", steps="", tier=1, cost=Cost(hourly=Decimal(60), what="x"), minutes=0, stands=True
    )
    near = Question(id="L2", title="?", steps="", tier=1, minutes=30, needs=("L1",))
    far = Question(id="L3", title="?", steps="", tier=1, minutes=30)

    priced = {question.id: usd for question, usd in cost_in_order([cluster, near, far])}

    assert priced == {"L1": Decimal(MARGIN_MINUTES), "L2": Decimal(30 + MARGIN_MINUTES), "L3": Decimal(0)}


def test_the_plan_is_printed_in_under_three_seconds_without_an_account() -> None:
    begun = time.monotonic()
    done = command("plan", "--until", "2", environment={})

    assert time.monotonic() - begun < 3 * slowness()
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("tier 1") > 20
    assert "USD" in done.stdout.splitlines()[-1]


def slowness() -> float:
    """How much slower this machine is while it is shared."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


# The budget


def test_the_worst_case_is_reserved_before_a_test_acts(run: Run) -> None:
    seen = []
    ask(run, PAID, lambda live: seen.append(live.run.journal.reserved))

    assert seen == [Decimal("2.00")]  # an hour: 30 minutes, and the margin


def test_a_test_that_ended_has_cost_what_its_time_costs(run: Run) -> None:
    ask(run, PAID, lambda _: None)

    assert run.journal.reserved == Decimal("0.17")  # five minutes of two USD an hour


def test_a_test_whose_worst_case_does_not_fit_does_not_begin(run: Run) -> None:
    with pytest.raises(BudgetError, match=r"L901 may cost 100\.00 USD; 0 of 10 USD"):
        ask(run, BOUGHT, lambda _: pytest.fail("begun"))

    assert run.journal.of("reserve") == []


def launch(live: Live, count: int) -> None:
    live.client("ec2").run_instances(
        MinCount=count, MaxCount=count, ImageId="ami-12345678", InstanceType="t3.micro"
    )


def test_a_launch_beyond_the_reservation_is_not_sent(run: Run) -> None:
    with pytest.raises(
        OutsideReservationError, match="L900 has reserved 1 nodes; RunInstances would make one more"
    ):
        ask(run, PAID, lambda live: launch(live, 2))

    assert run.where.client("ec2").describe_instances()["Reservations"] == []


def test_a_question_that_reserves_nothing_cannot_make_what_costs(run: Run) -> None:
    free = Question(id="L902", title="?", steps="", tier=1, cost=FREE, test="t")

    with pytest.raises(
        OutsideReservationError, match="L902 reserves nothing, and CreateCapacityReservation costs"
    ):
        ask(
            run,
            free,
            lambda live: live.client("ec2").create_capacity_reservation(
                InstanceType="trn1.2xlarge",
                InstancePlatform="Linux/UNIX",
                InstanceCount=1,
                AvailabilityZone="us-east-1a",
            ),
        )


def test_nothing_that_costs_is_sent_outside_of_a_test(run: Run) -> None:
    with pytest.raises(OutsideReservationError, match="RunInstances outside of any test"):
        launch(Live(run, PAID), 1)


def test_a_purchase_is_sent_once_even_if_the_run_is_interrupted(run: Run) -> None:
    run.budget = Decimal(500)
    ec2 = run.where.client("ec2", run.where.block_region)
    market = {"InstanceType": "trn2.3xlarge", "InstanceCount": 1, "CapacityDurationHours": 24}
    offered = ec2.describe_capacity_block_offerings(**market)["CapacityBlockOfferings"]

    def buy(live: Live) -> None:
        client = live.client("ec2", live.block_region)
        client.purchase_capacity_block(
            CapacityBlockOfferingId=offered[0]["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
        )
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(run, BOUGHT, buy)
    assert run.journal.verdict("L901") == INTERRUPTED
    with pytest.raises(OutsideReservationError, match="L901 has reserved 1 buys"):
        ask(run, BOUGHT, buy)

    assert len(ec2.describe_capacity_reservations()["CapacityReservations"]) == 1
    assert run.journal.reserved == Decimal("100.00")  # the fee is reserved once


def test_an_interrupted_test_is_not_paid_a_second_time(run: Run) -> None:
    run.begin(PAID)

    assert "is not paid a second time" in obstacle(run, PAID)
    assert obstacle(run, BOUGHT) == ""


# The journal


def test_a_journal_goes_on_after_a_kill_in_the_middle_of_a_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append("run", run=RUN_ID)
    journal.append("reserve", question="L900", usd="2.00")
    journal.close()
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"event": "reserve", "question": "L9')

    again = Journal(tmp_path)

    assert [event["event"] for event in again.events] == ["run", "reserve"]
    assert again.path.read_bytes() == whole
    again.close()


@pytest.mark.parametrize(
    ("text", "said"), [('{"event": "run", "schema": 9}\n', "schema 9"), ("not JSON\n", "line 1: not JSON")]
)
def test_a_journal_of_another_version_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "journal.jsonl").write_text(text)

    with pytest.raises(JournalError, match=said):
        Journal(tmp_path)
    (tmp_path / "journal.jsonl").write_text("")
    Journal(tmp_path).close()  # the refusal holds no lock


def test_two_processes_cannot_continue_one_run(tmp_path: Path) -> None:
    first = Journal(tmp_path)

    with pytest.raises(JournalError, match="another process"):
        Journal(tmp_path)
    first.close()


# The net


def test_the_net_fits_into_a_template_and_moves_on_with_each_test(run: Run) -> None:
    assert len(net_template().encode()) < 51_200
    moments = []
    scheduler = run.where.client("scheduler")
    for _ in range(2):
        ask(
            run,
            PAID,
            lambda _: moments.append(scheduler.get_schedule(Name=f"live-{RUN_ID}")["ScheduleExpression"]),
        )

    expected = run.where.now() + dt.timedelta(minutes=45)  # 30 minutes, and a quarter of an hour
    fires = dt.datetime.fromisoformat(moments[-1].removeprefix("at(").removesuffix(")")).replace(
        tzinfo=dt.UTC
    )
    assert abs(fires - expected) < dt.timedelta(minutes=2)
    assert len(run.where.client("cloudformation").describe_stacks()["Stacks"]) == 1


def test_the_net_removes_what_is_tagged_with_its_run_only(run: Run) -> None:
    ec2 = run.where.client("ec2")
    image = ec2.describe_images()["Images"][0]["ImageId"]
    kept = {}

    def make(live: Live) -> None:
        for owner in (live.run.id, "261122ffff"):
            (kept[owner],) = ec2.run_instances(
                MinCount=1,
                MaxCount=1,
                ImageId=image,
                InstanceType="t3.micro",
                TagSpecifications=[
                    {"ResourceType": "instance", "Tags": [{"Key": "ultracluster:live", "Value": owner}]}
                ],
            )["Instances"]

    two = Question(**{**vars(PAID), "id": "L903", "nodes": 2})
    ask(run, two, make)
    assert run.clean() == []

    states = {
        each["InstanceId"]: each["State"]["Name"]
        for group in ec2.describe_instances()["Reservations"]
        for each in group["Instances"]
    }
    assert states[kept[RUN_ID]["InstanceId"]] == "terminated"
    assert states[kept["261122ffff"]["InstanceId"]] == "running"
    assert run.where.client("cloudformation").describe_stacks()["Stacks"] == []


# Records


SECRETS = {
    "account": "998877665544",
    "arn": "arn:aws:sts::998877665544:assumed-role/Admin-of-us/jane.doe",
    "ids": "i-0abcdef1234567890 in vpc-0abcdef1234567891, not i-0abcdef1234567890",
    "address": "10.11.12.13, ip-10-11-12-13.ec2.internal",
    "mail": "jane.doe@example.org",
    "key": "AKIAABCDEFGHIJKLMNOP",
    "job": "c0ffee00-1234-4321-9876-0123456789ab",
    "other": "arn:aws:iam::111122223333:role/Theirs",
    "UserData": "aW4gaGVyZSBpcyBmcy0wYWJj",
    "denied": "Encoded authorization failure message: abcDEF_123",
    "run": f"live-{RUN_ID}-L4",
}


def test_a_record_names_no_account_no_resource_and_nobody() -> None:
    masked = mask(SECRETS, account="998877665544", run=RUN_ID)
    text = json.dumps(masked)

    for secret in (
        "998877665544",
        "Admin-of-us",
        "jane",
        "0abcdef",
        "10.11",
        "10-11",
        "AKIA",
        "c0ffee",
        "111122223333",
        "aW4g",
        "abcDEF",
        RUN_ID,
    ):
        assert secret not in text, secret
    assert masked["ids"] == "i-00000000000000001 in vpc-00000000000000001, not i-00000000000000001"
    assert masked["run"] == "live-RUN-L4"


def test_a_record_keeps_what_says_something() -> None:
    said = {
        "Code": "DryRunOperation",
        "date": "2026-11-22T10:00:00+00:00",
        "Type": "trn2.48xlarge",
        "count": 16,
    }

    assert mask(said, account="998877665544", run=RUN_ID) == said


def example(**changes: Any) -> dict[str, Any]:
    """A record with one refusal that stands by itself, and one call that does not."""
    refused = {
        "service": "ec2",
        "operation": "PurchaseCapacityBlock",
        "region": "us-east-1",
        "request": {
            "CapacityBlockOfferingId": "cb-nothing",
            "InstancePlatform": "Linux/UNIX",
            "DryRun": True,
        },
        "response": {},
        "error": {
            "Code": "InvalidCapacityBlockOfferingId.NotFound",
            "Message": "The Capacity Block offering",
        },
    }
    bound = {
        **refused,
        "operation": "TerminateInstances",
        "request": {"InstanceIds": ["i-00000000000000001"]},
    }
    asked = {
        "id": "L33",
        "verdict": SHOWN,
        "date": "2026-11-25",
        "why": "",
        "facts": {},
        "calls": [refused, bound],
    }
    versions = {"ultracluster": "0.1.0"}
    return {
        "schema": 1,
        "run": "RUN",
        "date": "2026-11-25",
        "versions": versions,
        "questions": [asked],
    } | changes


def test_a_run_on_the_local_aws_leaves_a_record_that_loads(run: Run, tmp_path: Path) -> None:
    ask(run, PAID, lambda live: live.client("ec2").describe_instances())
    path = write(record_of(run.journal, account="123456789012", version="0.1.0"), tmp_path, "2026-11-25-x")

    (asked,) = load(path)["questions"]
    assert (asked["id"], asked["verdict"]) == ("L900", SHOWN)
    assert [call["operation"] for call in asked["calls"]] == ["DescribeInstances"]
    assert RUN_ID not in path.read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"schema": 1, "quest', "not a whole record"),
        ('{"schema": 2}', "schema 2, but this version reads 1"),
        ('["schema"]', "schema None"),
        ('{"schema": 1, "questions": [{}]}', "its questions do not have"),
    ],
)
def test_a_record_that_is_half_written_or_of_another_version_is_refused(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "x.json").write_text(content)

    with pytest.raises(RecordError, match=said):
        load(tmp_path / "x.json")


def test_the_records_of_the_repository_load() -> None:
    load_all()


def repeat(cases: Path) -> subprocess.CompletedProcess[str]:
    """Repeat cases on the local AWS, as `make -C localaws field` does."""
    command = [sys.executable, "-m", "tests.field", "--cases", str(cases)]
    return subprocess.run(command, cwd=ROOT / "localaws", capture_output=True, text=True, check=False)


def test_a_recorded_refusal_becomes_a_case_of_the_field(tmp_path: Path) -> None:
    (folder,) = write_cases(example(), "2026-11-25-x", tmp_path)

    case = tomllib.loads((folder / "case.toml").read_text("utf-8"))

    assert (case["service"], case["expect"], case["code"]) == (
        "ec2",
        "calls_refused",
        "InvalidCapacityBlockOfferingId.NotFound",
    )
    done = repeat(tmp_path)
    assert done.returncode == 0
    assert re.search(r"^\| all +\| +\| 1 +\| 1 +\| 0 +\| 0 +\|$", done.stdout, re.MULTILINE)


def test_a_recorded_answer_that_the_local_aws_does_not_give_is_a_named_disagreement(tmp_path: Path) -> None:
    record = example()
    record["questions"][0]["calls"][0]["error"] = {
        "Code": "UnauthorizedOperation",
        "Message": "You are not authorized",
    }
    write_cases(record, "2026-11-25-x", tmp_path)

    done = repeat(tmp_path)

    assert done.returncode == 1
    assert done.stdout.startswith("disagreed")
    assert "does not exist or is gone" in done.stdout


# The page


def test_the_page_is_that_of_the_questions_and_records() -> None:
    assert PAGE.read_text("utf-8") == page(load_all()), "run: make live-publish"


def test_the_page_says_when_a_question_was_last_shown_and_by_which_record() -> None:
    older, newer = example(), copy.deepcopy(example(date="2026-12-01"))
    newer["questions"][0] |= {"verdict": "not shown", "date": "2026-12-01"}

    shown = page({"2026-11-25-x": older})
    both = page({"2026-11-25-x": older, "2026-12-01-y": newer})

    assert "| 2026-11-25 ([record](../tests/live/records/2026-11-25-x.json)) |" in shown
    assert "| failed on 2026-12-01 ([record](../tests/live/records/2026-12-01-y.json)) |" in both
    assert shown.count("| never |") == len(questions()) - 1


def test_the_table_of_preflight_is_that_of_the_records() -> None:
    assert LIVE_FACTS_FILE.read_text("utf-8") == facts(load_all()), "run: make live-publish"


def test_each_question_names_checks_that_there_are() -> None:
    known = {check.code for check in (*CHECKS, *PROBE_CHECKS, *REHEARSAL_CHECKS)}

    assert {code for question in questions().values() for code in question.checks} <= known


@pytest.mark.parametrize(("verdict", "said"), [(SHOWN, "passed"), ("not shown", "failed")])
def test_a_record_makes_preflight_say_when_a_live_test_passed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    verdict: str,
    said: str,
) -> None:
    record = example()
    record["questions"][0] |= {"id": "L110", "verdict": verdict}
    (tmp_path / "live_facts.json").write_text(facts({"2026-11-25-x": record}))
    monkeypatch.setattr(live_facts, "LIVE_FACTS_FILE", tmp_path / "live_facts.json")
    live_facts.live_facts.cache_clear()
    result = CheckResult(code="UC9710", title="", key=("us-east-2",), outcome=passed("AWS Batch knows trn2"))

    try:
        report_result(result)
        row = result_row(result)
        print_results([row], Counter(), calls="1 call")
    finally:
        live_facts.live_facts.cache_clear()

    assert list(map(str, row["live_tests"])) == [f"L110 {said} on 2026-11-25"]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"PASS UC9710 us-east-2: AWS Batch knows trn2 (L110 {said} on 2026-11-25)"
    assert f"live tests passed: {int(verdict == SHOWN)}, last run on 2026-11-25" in lines[-1]
    assert ("L110 failed on 2026-11-25" in lines[-1]) == (verdict != SHOWN)


# The command


def command(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command with an environment of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.live", *arguments],
        cwd=ROOT,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


NO_CREDENTIALS = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--until", "5"], "UNTIL is a tier from 0 to 4; got '5'"),
        (["run", "--until", "1", "--budget", "much"], "BUDGET is an amount of USD; got 'much'"),
        (["run", "--until", "1", "--budget", "nan"], "BUDGET is an amount of USD; got 'nan'"),
        (
            ["run", "--until", "1", "--budget", "0.001"],
            "BUDGET is 0.001 USD, but the first test that costs, L115, may cost 0.01 USD",
        ),
        (["run", "--account", "12"], "ACCOUNT is the ID of the account to ask, 12 digits; got '12'"),
        (["run", "--account", "123456789012"], "no credentials that AWS takes"),
        (
            ["run", "--only", "L999", "--account", "123456789012"],
            "no question with a test up to tier 0: L999",
        ),
        (["clean", "--account", "123456789012"], "RUN is missing"),
    ],
)
def test_bad_input_is_one_line_and_begins_nothing(tmp_path: Path, arguments: list[str], said: str) -> None:
    state = ["--state", str(tmp_path / "state")]
    done = command(*arguments, *state, environment=NO_CREDENTIALS)

    assert done.returncode == 2
    assert done.stderr.startswith("make live: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "state").exists()


def local_environment(local: LocalAws) -> dict[str, str]:
    return {name: value for name, value in local.environment().items() if name.startswith("AWS_")}


def test_another_account_and_a_bad_record_begin_nothing(local_aws: LocalAws, tmp_path: Path) -> None:
    state = ["--state", str(tmp_path / "state")]
    environment = local_environment(local_aws)
    other = command("run", "--account", "210987654321", *state, environment=environment)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "x.json").write_text('{"schema": 1')
    records = ["--records", str(tmp_path / "records")]
    half = command("run", "--account", "123456789012", *state, *records, environment=environment)
    run_id = command("run", "--account", "123456789012", "--run", "../x", *state, environment=environment)

    assert "the credentials are of account 123456789012, not of 210987654321" in other.stderr
    assert "not a whole record" in half.stderr
    assert "RUN is the ID of a run" in run_id.stderr
    assert {done.returncode for done in (other, half, run_id)} == {2}
    assert not (tmp_path / "state").exists()


def test_tier_0_runs_over_the_wire_and_leaves_a_record(local_aws: LocalAws, tmp_path: Path) -> None:
    arguments = ["run", "--account", "123456789012", "--run", RUN_ID, "--state", str(tmp_path)]
    first = command(*arguments, environment=local_environment(local_aws))
    (path,) = (tmp_path / RUN_ID).glob("*.json")
    again = command(*arguments, environment=local_environment(local_aws))

    assert first.returncode == 0, first.stdout[-3000:] + first.stderr
    assert {question["verdict"] for question in load(path)["questions"]} == {SHOWN}
    assert len(load(path)["questions"]) == len(planned(0))
    assert again.stdout.count("was answered in this run before: shown") == len(planned(0)), again.stdout[
        -3000:
    ]
    assert local_aws.client("cloudformation").describe_stacks()["Stacks"] == []
