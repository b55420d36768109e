"""Classification of exceptions: only a listed 4xx error means that nothing was bought."""

from datetime import UTC, datetime

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from tests.unit.runtime.purchasing.faults import client_error

from ultracluster_runtime.purchasing.aws_errors import (
    CAPACITY_BLOCK_LIMIT,
    REFUSED_BEFORE_EXECUTION,
    classify_dry_run_error,
    classify_read_error,
    classify_send_error,
    classify_transaction_error,
    server_time,
)
from ultracluster_runtime.purchasing.effects import (
    ConditionFailed,
    DryRunPassed,
    OutcomeUnknown,
    ReadFailed,
    Refused,
)

URL = "https://ec2.us-east-2.amazonaws.com"


@pytest.mark.parametrize("code", sorted(REFUSED_BEFORE_EXECUTION))
def test_listed_4xx_errors_mean_nothing_was_bought(code: str) -> None:
    assert isinstance(classify_send_error(client_error(code, 400)), Refused)


@pytest.mark.parametrize("code", sorted(REFUSED_BEFORE_EXECUTION))
def test_same_code_with_another_status_is_unknown(code: str) -> None:
    assert isinstance(classify_send_error(client_error(code, 500)), OutcomeUnknown)
    assert isinstance(classify_send_error(client_error(code, 200)), OutcomeUnknown)


@pytest.mark.parametrize(
    "error",
    [
        client_error("InternalError", 500),
        client_error("RequestLimitExceeded", 503),
        client_error("SomethingNew", 400),
        client_error("", 400),
        client_error("DryRunOperation", 412),
        ConnectionClosedError(endpoint_url=URL),
        ConnectTimeoutError(endpoint_url=URL),
        EndpointConnectionError(endpoint_url=URL),
        ReadTimeoutError(endpoint_url=URL),
        KeyError("CapacityReservation"),
        ValueError("the answer contains no reservation"),
        RuntimeError("whatever"),
    ],
    ids=repr,
)
def test_all_other_errors_leave_the_outcome_unknown(error: Exception) -> None:
    assert isinstance(classify_send_error(error), OutcomeUnknown)


@pytest.mark.parametrize("error", [NoCredentialsError(), ParamValidationError(report="x")], ids=repr)
def test_requests_that_were_never_sent_bought_nothing(error: Exception) -> None:
    assert isinstance(classify_send_error(error), Refused)


def test_only_dry_run_operation_means_permission() -> None:
    assert isinstance(classify_dry_run_error(client_error("DryRunOperation", 412)), DryRunPassed)
    for error in (
        client_error("UnauthorizedOperation", 403),
        client_error("InternalError", 500),
        ValueError("x"),
    ):
        assert isinstance(classify_dry_run_error(error), Refused)


def test_reads_the_clock_of_aws_from_the_dry_run() -> None:
    error = client_error("DryRunOperation", 412)
    error.response["ResponseMetadata"]["HTTPHeaders"] = {"date": "Fri, 20 Nov 2026 09:00:00 GMT"}
    assert classify_dry_run_error(error) == DryRunPassed(datetime(2026, 11, 20, 9, 0, tzinfo=UTC))


@pytest.mark.parametrize("header", [None, "", "yesterday"])
def test_server_time_is_unknown_without_a_date_header(header: str | None) -> None:
    assert server_time({"ResponseMetadata": {"HTTPHeaders": {"date": header}}}) is None
    assert server_time({}) is None


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (client_error("RequestLimitExceeded", 503), True),
        (client_error(CAPACITY_BLOCK_LIMIT, 400), True),
        (client_error("InternalError", 500), True),
        (ReadTimeoutError(endpoint_url=URL), True),
        (client_error("UnauthorizedOperation", 403), False),
        (client_error("InvalidParameterValue", 400), False),
        (NoCredentialsError(), False),
    ],
    ids=repr,
)
def test_retries_only_transient_errors(error: Exception, *, transient: bool) -> None:
    answer = classify_read_error(error)
    assert isinstance(answer, ReadFailed)
    assert answer.transient is transient


def test_missing_quota_is_not_transient() -> None:
    error = ClientError(
        {
            "Error": {
                "Code": CAPACITY_BLOCK_LIMIT,
                "Message": "existing service limits are not sufficient to use it",
            },
            "ResponseMetadata": {"HTTPStatusCode": 400},
        },
        "DescribeCapacityBlockOfferings",
    )
    assert not classify_read_error(error).transient


def test_cancelled_transaction_reports_the_failed_condition() -> None:
    error = client_error("TransactionCanceledException", 400)
    error.response["CancellationReasons"] = [{"Code": "None"}, {"Code": "ConditionalCheckFailed"}]
    assert classify_transaction_error(error, ("state", "lock")) == ConditionFailed(frozenset({"lock"}))


@pytest.mark.parametrize("reason", ["TransactionConflict", "ThrottlingError", "None"])
def test_transaction_cancelled_for_another_reason_is_unknown(reason: str) -> None:
    error = client_error("TransactionCanceledException", 400)
    error.response["CancellationReasons"] = [{"Code": reason}, {"Code": "None"}]
    assert isinstance(classify_transaction_error(error, ("state", "lock")), OutcomeUnknown)
