"""The budget of a deployed cluster on the local AWS: when it is spent, the queue is closed and stays closed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.integration.quickstart_block import REGION, deploy, seed_block, synthesize

from ultracluster_catalog.limits.budgets import CLOSED_BY_BUDGET_TAG
from ultracluster_local import LocalAws
from ultracluster_local.services.budgets import record_spend

pytestmark = pytest.mark.slow

BUDGET = """        budget:
          monthly_usd: 50000
          emails: [jane@example.com]
          actual_percents: [80]
          close_queues_at_percent: 100
        jobs:
"""


@pytest.fixture
def budget(local_aws: LocalAws, tmp_path: Path) -> str:
    """The quick start with a budget, in an active block; its budget's name."""
    now = datetime.now(UTC).replace(microsecond=0)
    seed_block(now - timedelta(days=1), now + timedelta(days=5))
    deploy(local_aws, synthesize(tmp_path, {"        jobs:\n": BUDGET}))
    (found,) = local_aws.client("budgets").describe_budgets(AccountId="123456789012")["Budgets"]
    assert found["BudgetLimit"] == {"Amount": "50000", "Unit": "USD"}
    return str(found["BudgetName"])


def queue(local: LocalAws) -> dict[str, Any]:
    (found,) = local.client("batch", REGION).describe_job_queues()["jobQueues"]
    return dict(found)


def test_a_spent_budget_closes_the_queue_until_an_operator_opens_it(local_aws: LocalAws, budget: str) -> None:
    batch = local_aws.client("batch", REGION)
    definition = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"][0]["jobDefinitionArn"]
    running = batch.submit_job(
        jobName="a", jobQueue=queue(local_aws)["jobQueueArn"], jobDefinition=definition
    )

    told = record_spend(budget, actual=41_000, forecast=60_000)
    assert {(each.kind, each.threshold, each.error) for each in told} == {
        ("ACTUAL", 80.0, ""),
        ("FORECASTED", 100.0, ""),
    }
    assert {each.address for each in told} > {"jane@example.com"}
    assert queue(local_aws)["state"] == "ENABLED"

    closing = record_spend(budget, actual=50_001)
    assert [(each.threshold, each.error) for each in closing] == [(100.0, "")] * 2  # the topic and the mail
    assert record_spend(budget, actual=60_000) == []  # once in a month
    assert queue(local_aws)["state"] == "DISABLED"
    assert CLOSED_BY_BUDGET_TAG in queue(local_aws)["tags"]
    # AWS Batch keeps what was there, and takes nothing new.
    assert batch.describe_jobs(jobs=[running["jobId"]])["jobs"][0]["status"] == "RUNNABLE"
    with pytest.raises(ClientError, match="not enabled"):
        batch.submit_job(jobName="b", jobQueue=queue(local_aws)["jobQueueArn"], jobDefinition=definition)

    local_aws.event_settings.most_firings = 1
    local_aws.clock.advance(timedelta(minutes=2))  # the life cycle of the block, which would open it
    woken = local_aws.deliveries(REGION)
    assert woken
    assert not [each.error for each in woken if each.error]
    assert queue(local_aws)["state"] == "DISABLED"

    batch.untag_resource(resourceArn=queue(local_aws)["jobQueueArn"], tagKeys=[CLOSED_BY_BUDGET_TAG])
    local_aws.clock.advance(timedelta(minutes=2))
    assert queue(local_aws)["state"] == "ENABLED"
