"""The example that prepares an account for buying: synthesized as users do it, deployed to the local AWS, used."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.bare_environment import bare_environment

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.orders import OnDemandOrder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HOME = "us-east-2"
STACKS = {"Capacity": "us-east-2", "CapacityGuard-ap-southeast-4": "ap-southeast-4"}


def synthesize(directory: Path, **variables: str) -> None:
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/capacity-ledger/app.py")],
        env=bare_environment(CDK_OUTDIR=str(directory), CDK_CONTEXT_JSON=json.dumps(context), **variables),
        cwd=directory.parent,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("capacity") / "cdk.out"
    synthesize(directory, CDK_VALIDATION="true")
    return directory


def template(assembly: Path, stack: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((assembly / f"{stack}.template.json").read_text())
    return found


def test_the_cdk_validator_finds_nothing(assembly: Path) -> None:
    report = json.loads((assembly / "validation-report.json").read_text())
    assert [each["violations"] for each in report["pluginReports"]] == []


def test_nothing_is_named_by_us(assembly: Path) -> None:
    names = {"TableName", "RoleName", "TopicName", "Name"}
    for stack in STACKS:
        for resource in template(assembly, stack)["Resources"].values():
            assert not names & resource.get("Properties", {}).keys()


def order() -> OnDemandOrder:
    now = datetime.now(UTC)
    return OnDemandOrder(
        name="december",
        account="123456789012",
        cluster="ohio",
        max_fee=Decimal(5000),
        month_cap=Decimal(5000),
        approver="jane@example.com",
        expires_at=now + timedelta(days=1),
        region=HOME,
        instance_type="trn1.32xlarge",
        count=1,
        zone_id="use2-az3",
        end=now + timedelta(days=5),
        hourly_price=Decimal("21.50"),
    )


def test_the_roles_and_guards_are_there_and_the_ledger_works_and_outlives_its_stack(
    local_aws: LocalAws, assembly: Path
) -> None:
    deployed = deploy_assembly(local_aws, assembly)
    assert [(each.status, each.reason) for each in deployed] == [("CREATE_COMPLETE", "")] * len(STACKS)
    (stack,) = local_aws.client("cloudformation", HOME).describe_stacks(StackName="Capacity")["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    roles = {each["Arn"] for each in local_aws.client("iam").list_roles()["Roles"]}
    assert {outputs["PurchaseRoleArn"], outputs["SearchRoleArn"]} <= roles
    for region in STACKS.values():
        topics = {each["TopicArn"] for each in local_aws.client("sns", region).list_topics()["Topics"]}
        events = local_aws.client("events", region)
        (rule,) = events.list_rules()["Rules"]
        (target,) = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        assert rule["State"] == "ENABLED"
        assert {target["Arn"]} == topics

    client = local_aws.client("dynamodb", HOME)
    table = outputs["LedgerTableName"]
    ledger = Ledger(client, table)
    record = ledger.approve(order(), now=datetime.now(UTC))
    with pytest.raises(ClientError, match="protected against deletion"):
        client.delete_table(TableName=table)
    gone = destroy_assembly(local_aws, assembly)
    assert {each.status for each in gone} == {"DELETE_COMPLETE"}
    assert ledger.read("december") == record
