"""Preflight reads only, asks once, ends at its deadline, and waits with what would fail for the same reason."""

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.loaders import Loader
from botocore.model import ServiceModel

from ultracluster_rules.registry import RULES
from ultracluster_runtime.preflight.check import (
    Check,
    Outcome,
    Status,
    failed,
    passed,
    skipped,
    warned,
    worst,
)
from ultracluster_runtime.preflight.images import Reference, read_reference
from ultracluster_runtime.preflight.quotas import Share, judge_shares
from ultracluster_runtime.preflight.reads import READS, Reads
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.requirements import ClusterNeeds, RegionNeeds, RolloutNeeds, SourceNeeds
from ultracluster_runtime.preflight.reservations import judge_count, judge_state, judge_window
from ultracluster_runtime.preflight.run import Result, run_checks

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

SOURCE = SourceNeeds(
    key=("us-east-2", "train", "cr-0123456789abcdef0"),
    zone_id="use2-az3",
    instance_type="trn2.48xlarge",
    family="trn",
    vcpus=192,
    nodes=4,
    market_type="capacity-block",
    reservation_id="cr-0123456789abcdef0",
    resource_group_arn=None,
    placement_group=None,
    start=None,
    end=None,
    block_quota="L-64569A79",
    on_demand_quota="L-2C3B7624",
    spot_quota="L-6B0D517C",
)
CLUSTER = ClusterNeeds(
    region="us-east-2",
    name="train",
    account=None,
    zone_id="use2-az3",
    instance_type="trn2.48xlarge",
    image_id="ami-0123456789abcdef0",
    neuron=True,
    sources=(SOURCE,),
    compilers=(),
    interfaces=80,
    compute_environments=1,
    queues=1,
    new_vpc=True,
    storage_quota=None,
    storage_gib=0,
    subnet=None,
    file_system=None,
    buckets=(),
    keys=(),
    images=(),
    orders=(),
    stacks=("n", "s", "c"),
)
ROLLOUT = RolloutNeeds(clusters=(CLUSTER,))
REGION = RegionNeeds(region="us-east-2", clusters=(CLUSTER,), qualifier="q")


class Client:
    """A client whose calls answer what they are told, and are counted."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**_: Any) -> Any:
            self.asked.append(name)
            answer = self.answers[name]
            if isinstance(answer, Exception):
                raise answer
            return answer() if callable(answer) else answer

        return call


def reads_of(client: Any, *, seconds: float = 10.0) -> Reads:
    return Reads(lambda _service, _region: client, now=NOW, seconds=seconds)


def error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Any")


# Reading only


def test_every_call_reads_only_and_exists() -> None:
    loader = Loader()
    for call in READS:
        service, _, operation = call.partition(":")
        model = ServiceModel(loader.load_service_model(service, "service-2"))
        assert operation in model.operation_names, call
        assert operation.startswith(("Describe", "Get", "List", "Head", "Simulate")), call


def test_checks_ask_nothing_else_and_everything_that_is_listed() -> None:
    assert {call for check in CHECKS for call in check.calls} == READS


def test_a_call_that_is_not_listed_is_never_sent() -> None:
    client = Client({"terminate_instances": {}})
    with pytest.raises(KeyError, match="ec2:TerminateInstances"):
        reads_of(client).ask("ec2", "us-east-2", "TerminateInstances")
    assert client.asked == []


def test_many_threads_ask_the_same_question_once_and_repetitions_are_counted() -> None:
    answer = {"Account": "1", "ResponseMetadata": {"RetryAttempts": 2}}
    client = Client({"get_caller_identity": lambda: time.sleep(0.02) or answer})
    reads = reads_of(client)
    threads = [
        threading.Thread(target=reads.ask, args=("sts", "us-east-1", "GetCallerIdentity")) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.asked == ["get_caller_identity"]
    assert reads.sent == {"sts:GetCallerIdentity": 3}


# Registry


def test_codes_are_unique_registered_in_order_and_wait_for_checks_before_them() -> None:
    codes = [check.code for check in CHECKS]
    assert len(set(codes)) == len(codes)
    for index, check in enumerate(CHECKS):
        assert check.title == RULES[check.code].summary
        assert set(check.after) <= set(codes[:index]), check.code


# Running


def make(code: str, outcome: Outcome | Exception, *, after: tuple[str, ...] = ()) -> Check[Any, Any]:
    def judge(_: Any, __: Any) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def subjects(rollout: RolloutNeeds) -> Iterable[Any]:
        return (rollout,) if code == "UC9401" else rollout.regions()

    return Check(code=code, calls=(), subjects=subjects, gather=lambda _, __: None, judge=judge, after=after)


def run(*checks: Check[Any, Any], left_out: tuple[str, ...] = (), seconds: float = 10.0) -> list[Result]:
    return run_checks(ROLLOUT, reads_of(Client({}), seconds=seconds), checks=checks, left_out=left_out)


def statuses(results: list[Result]) -> list[Status]:
    return [result.outcome.status for result in results]


def test_what_waits_for_a_check_that_fails_is_skipped_down_the_line() -> None:
    first = make("UC9401", failed("no", "do"))
    rest = (
        make("UC9404", passed("yes"), after=("UC9401",)),
        make("UC9405", passed("yes"), after=("UC9404",)),
    )
    results = run(first, *rest)
    assert statuses(results) == [Status.FAIL, Status.SKIP, Status.SKIP]
    assert results[2].outcome.evidence == "waits for UC9404"
    assert statuses(run(make("UC9401", warned("so", "do")), *rest)) == [Status.WARN, Status.PASS, Status.PASS]


def test_a_check_that_is_left_out_holds_nothing_up() -> None:
    first, second = make("UC9401", failed("no", "do")), make("UC9404", passed("yes"), after=("UC9401",))
    assert statuses(run(first, second, left_out=("UC9401",))) == [Status.SKIP, Status.PASS]


def test_a_failure_in_one_region_does_not_hold_up_another() -> None:
    other = replace(CLUSTER, region="us-east-1", name="other")
    rollout = RolloutNeeds(clusters=(CLUSTER, other))
    first: Check[Any, Any] = Check(
        code="UC9404",
        calls=(),
        subjects=RolloutNeeds.regions,
        gather=lambda _, needs: needs.region,
        judge=lambda _, region: passed("on") if region == "us-east-1" else failed("off", "do"),
    )
    second = make("UC9405", passed("yes"), after=("UC9404",))
    results = run_checks(rollout, reads_of(Client({})), checks=(first, second))
    assert {(r.code, r.subject, r.outcome.status) for r in results} == {
        ("UC9404", "us-east-1", Status.PASS),
        ("UC9404", "us-east-2", Status.FAIL),
        ("UC9405", "us-east-1", Status.PASS),
        ("UC9405", "us-east-2", Status.SKIP),
    }


def test_a_refusal_fails_its_check_with_what_to_allow_and_a_surprise_fails_no_other() -> None:
    refused = make("UC9401", error("AccessDenied"))
    surprised = make("UC9404", ZeroDivisionError("x"))
    first, second = (result.outcome for result in run(refused, surprised))
    assert (first.status, first.evidence) == (Status.FAIL, "not answered: AccessDenied: no")
    assert "--skip UC9401" in first.remedy
    assert (second.status, second.evidence) == (
        Status.FAIL,
        "the answer of AWS was not understood: ZeroDivisionError: x",
    )


def test_a_call_that_hangs_ends_at_the_deadline() -> None:
    never = threading.Event()
    hanging: Check[Any, Any] = replace(
        make("UC9401", passed("yes")), gather=lambda _, __: never.wait(30) and None
    )
    began = time.monotonic()
    results = run(hanging, make("UC9404", passed("yes")), seconds=0.2)
    never.set()
    assert time.monotonic() - began < 5
    assert statuses(results) == [Status.FAIL, Status.PASS]
    assert "deadline" in results[0].outcome.evidence


def test_nothing_is_asked_after_the_deadline() -> None:
    client = Client({"get_caller_identity": {}})
    results = run_checks(ROLLOUT, reads_of(client, seconds=0.0), checks=CHECKS[:1])
    assert client.asked == []
    assert statuses(results) == [Status.FAIL]


# Judging, at the edges


@pytest.mark.parametrize(
    ("value", "used", "needed", "status"),
    [
        (768.0, 0, 768, Status.PASS),
        (767.0, 0, 768, Status.FAIL),
        (768.0, 1, 768, Status.FAIL),
        (None, 0, 768, Status.WARN),
        (0.0, 768, 0, Status.SKIP),
    ],
)
def test_a_quota_holds_what_is_used_and_needed_together(
    value: float | None, used: int, needed: int, status: Status
) -> None:
    share = Share(service="ec2", code="L-64569A79", name="vCPUs", value=value, used=used, needed=needed)
    outcome = judge_shares(REGION, [share])
    assert outcome.status is status
    if status is Status.FAIL:
        assert f"--desired-value {used + needed} --region us-east-2" in outcome.remedy


def test_a_block_that_has_not_started_shows_its_size_in_a_tag() -> None:
    tag = {"Key": "aws:ec2capacityreservation:incrementalRequestedQuantity", "Value": "4"}
    shown = {"State": "scheduled", "TotalInstanceCount": 0, "Tags": [tag]}
    assert judge_count(SOURCE, shown).status is Status.PASS
    assert judge_count(SOURCE, {**shown, "Tags": []}).status is Status.FAIL
    assert judge_count(SOURCE, {"State": "active", "TotalInstanceCount": 5}).status is Status.WARN


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (NOW, Status.FAIL),
        (NOW + timedelta(hours=11, minutes=59), Status.WARN),
        (NOW + timedelta(hours=12), Status.PASS),
        (None, Status.PASS),
    ],
)
def test_a_window_that_is_over_fails_and_a_short_one_warns(end: datetime | None, status: Status) -> None:
    shown = {"StartDate": NOW - timedelta(days=1), "EndDate": end}
    assert judge_window(SOURCE, (shown, NOW)).status is status


def test_a_time_of_the_rollout_may_be_off_by_less_than_a_minute() -> None:
    start = NOW + timedelta(days=1)
    shown = {"StartDate": start, "EndDate": start + timedelta(days=1)}
    near, far = start + timedelta(seconds=59), start + timedelta(seconds=60)
    assert judge_window(replace(SOURCE, start=near), (shown, NOW)).status is Status.PASS
    assert judge_window(replace(SOURCE, start=far), (shown, NOW)).status is Status.FAIL


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("active", Status.PASS),
        ("scheduled", Status.PASS),
        ("payment-pending", Status.WARN),
        ("delayed", Status.WARN),
        ("payment-failed", Status.FAIL),
        ("expired", Status.FAIL),
        ("a state of tomorrow", Status.FAIL),
    ],
)
def test_only_what_can_be_used_passes(state: str, status: Status) -> None:
    assert judge_state(SOURCE, {"State": state}).status is status


def test_the_gravest_outcome_of_several_counts() -> None:
    together = worst(
        [skipped("a"), passed("b"), failed("c", "do c"), warned("d", "do d"), failed("e", "do c")]
    )
    assert together == failed("c; e", "do c")


def test_references_are_read_by_tag_or_digest_and_only_those_of_ecr() -> None:
    host = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
    digest = f"sha256:{'0' * 64}"
    expected = Reference(
        account="123456789012", region="us-east-2", repository="team/training", image_id={"imageTag": "v1"}
    )
    assert read_reference(f"{host}/team/training:v1") == expected
    by_digest = read_reference(f"{host}/team/training:v1@{digest}")
    assert by_digest is not None
    assert by_digest.image_id == {"imageDigest": digest}
    assert read_reference("public.ecr.aws/neuron/pytorch-training:2.9") is None
