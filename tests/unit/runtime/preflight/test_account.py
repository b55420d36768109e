"""Evaluation of credentials, account, clock, Region and bootstrap."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from tests.unit.runtime.preflight.preflight_cases import (
    CLUSTER,
    NOW,
    REGION,
    ROLLOUT,
    Client,
    error,
    reads_of,
)

from ultracluster_runtime.preflight import account
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.subjects import Account

CREDENTIALS, ACCOUNT, CLOCK, ENABLED, BOOTSTRAP = checks_of(account)


@pytest.mark.parametrize("refusal", [error("ExpiredToken"), NoCredentialsError()])
def test_refused_credentials_fail_with_the_message_of_aws(refusal: Exception) -> None:
    observed = CREDENTIALS.gather(reads_of(Client({"get_caller_identity": refusal})), ROLLOUT)
    outcome = CREDENTIALS.evaluate(ROLLOUT, observed)

    assert (outcome.status, outcome.evidence) == (Status.FAIL, str(refusal))


@pytest.mark.parametrize(("pinned", "status"), [(None, Status.PASS), ("1", Status.PASS), ("2", Status.FAIL)])
def test_pinned_account_must_be_that_of_the_credentials(pinned: str | None, status: Status) -> None:
    rollout = Account(clusters=(CLUSTER, replace(CLUSTER, name="other", account=pinned)))
    outcome = ACCOUNT.evaluate(rollout, {"Account": "1"})

    assert outcome.status is status
    assert ("other (2)" in outcome.evidence) is (status is Status.FAIL)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("seconds", "status"),
    [(0, Status.PASS), (60, Status.PASS), (61, Status.WARN), (299, Status.WARN), (300, Status.FAIL)],
)
def test_clock_may_differ_by_a_minute_and_fails_from_five(seconds: int, status: Status, sign: int) -> None:
    times = (NOW, NOW + timedelta(seconds=sign * seconds))

    assert CLOCK.evaluate(ROLLOUT, times).status is status


def test_clock_is_read_from_refusals_too_and_skipped_without_an_answer() -> None:
    refusal = error("ExpiredToken")
    headers: Any = {"HTTPHeaders": {"date": "Sat, 21 Nov 2026 12:00:05 GMT"}}
    refusal.response["ResponseMetadata"] = headers
    times = CLOCK.gather(reads_of(Client({"get_caller_identity": refusal})), ROLLOUT)
    none = CLOCK.gather(reads_of(Client({"get_caller_identity": NoCredentialsError()})), ROLLOUT)

    assert times == (NOW, NOW + timedelta(seconds=5))
    assert CLOCK.evaluate(ROLLOUT, none).status is Status.SKIP


def test_a_response_without_a_date_is_a_warning() -> None:
    assert CLOCK.evaluate(ROLLOUT, (NOW, None)).status is Status.WARN


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"Regions": [{"OptInStatus": "opted-in"}]}, Status.PASS),
        ({"Regions": [{}]}, Status.PASS),
        ({"Regions": [{"OptInStatus": "not-opted-in"}]}, Status.FAIL),
        (error("OptInRequired"), Status.FAIL),
    ],
)
def test_region_must_be_enabled(reply: Any, status: Status) -> None:
    observed = ENABLED.gather(reads_of(Client({"describe_regions": reply})), REGION)

    assert ENABLED.evaluate(REGION, observed).status is status


@pytest.mark.parametrize(
    ("version", "status"),
    [("6", Status.PASS), ("21", Status.PASS), ("5", Status.FAIL), ("six", Status.FAIL), (None, Status.FAIL)],
)
def test_bootstrap_must_be_of_version_6_or_newer(version: str | None, status: Status) -> None:
    reply: Any = error("ParameterNotFound") if version is None else {"Parameter": {"Value": version}}
    observed = BOOTSTRAP.gather(reads_of(Client({"get_parameter": reply})), REGION)

    assert BOOTSTRAP.evaluate(REGION, observed).status is status
