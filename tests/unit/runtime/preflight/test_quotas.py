"""Checks of quotas."""

import pytest
from tests.unit.runtime.preflight.preflight_requirements import REGION

from ultracluster_runtime.preflight.check import (
    Status,
)
from ultracluster_runtime.preflight.quotas import Share, evaluate_shares


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
def test_quota_must_cover_existing_and_added_usage(
    value: float | None, used: int, needed: int, status: Status
) -> None:
    share = Share(service="ec2", code="L-64569A79", name="vCPUs", value=value, used=used, needed=needed)
    outcome = evaluate_shares(REGION, [share])
    assert outcome.status is status
    if status is Status.FAIL:
        assert f"--desired-value {used + needed} --region us-east-2" in outcome.remedy
