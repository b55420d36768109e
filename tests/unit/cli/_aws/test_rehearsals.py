"""What is said of a cluster's last rehearsals in several Regions."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_cli._aws.rehearsals import describe_rehearsals
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, write_rehearsal

AT = datetime(2026, 11, 22, 18, 30, tzinfo=UTC)


class Parameters:
    """SSM with one parameter, or with a refusal."""

    def __init__(self, *, code: str = "ParameterNotFound") -> None:
        self.value = ""
        self.code = code

    def put_parameter(self, **given: Any) -> None:
        self.value = given["Value"]

    def get_parameter(self, **_: Any) -> dict[str, Any]:
        if not self.value:
            raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, "GetParameter")
        return {"Parameter": {"Value": self.value}}


def rehearsed() -> Parameters:
    ssm = Parameters()
    write_rehearsal(ssm, "train", Rehearsal(digest="abc", at=AT, passed=30, failures=()))
    return ssm


UNREADABLE = (
    "The last rehearsal of train in us-east-2 could not be read: An error occurred (AccessDeniedException) when calling the "
    "GetParameter operation: no"
)
WAS = "train in us-east-2 was rehearsed on 2026-11-22 18:30 UTC"


def test_capacity_that_is_bought_needs_no_rehearsal_before_its_purchase() -> None:
    (said,) = describe_rehearsals("train", ["us-east-2"], ssm=lambda _: Parameters(), bought=True)
    assert "tests all but the capacity" in said
    assert "purchase" not in said


@pytest.mark.parametrize(
    ("regions", "digests", "said"),
    [
        (
            {"us-east-2": Parameters(), "sa-east-1": Parameters()},
            {},
            [
                "train was never rehearsed in us-east-2, sa-east-1: run `ultracluster deploy ROLLOUT --without-capacity` before the purchase."
            ],
        ),
        ({"us-east-2": rehearsed()}, {}, [f"{WAS}: 30 checks passed."]),
        ({"us-east-2": rehearsed()}, {"us-east-2": "abc"}, [f"{WAS}: 30 checks passed."]),
        ({"us-east-2": rehearsed()}, {"us-east-2": "other"}, [f"{WAS}, as an older version of it."]),
        ({"us-east-2": rehearsed(), "sa-east-1": Parameters()}, {}, [f"{WAS}: 30 checks passed."]),
        (
            {"us-east-2": Parameters(code="AccessDeniedException")},
            {},
            [UNREADABLE],
        ),
    ],
)
def test_describes_each_rehearsal_or_says_never(
    regions: dict[str, Parameters], digests: dict[str, str], said: list[str]
) -> None:
    assert describe_rehearsals("train", regions, ssm=regions.__getitem__, digests=digests) == said
