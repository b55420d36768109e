"""Requests that are repeated with their token."""

from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

TABLE: dict[str, Any] = {
    "TableName": "runs",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "run", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "run", "KeyType": "HASH"}],
}


def write(tables: Any, run: str, token: str = "first") -> Any:  # noqa: S107 - no secret
    put = {
        "TableName": "runs",
        "Item": {"run": {"S": run}},
        "ConditionExpression": "attribute_not_exists(run)",
    }
    return tables.transact_write_items(TransactItems=[{"Put": put}], ClientRequestToken=token)


def test_a_transaction_is_written_once_for_its_token_for_ten_minutes(local_aws: LocalAws) -> None:
    tables = local_aws.client("dynamodb")
    tables.create_table(**TABLE)
    write(tables, "a")

    local_aws.clock.advance(timedelta(minutes=9, seconds=59))
    write(tables, "a")
    assert refusal(write, tables=tables, run="b")[0] == "IdempotentParameterMismatchException"

    local_aws.clock.advance(timedelta(seconds=1))
    assert refusal(write, tables=tables, run="a")[0] == "TransactionCanceledException"


def test_a_transaction_that_failed_is_not_remembered(local_aws: LocalAws) -> None:
    tables = local_aws.client("dynamodb")
    tables.create_table(**TABLE)
    write(tables, "a")

    assert refusal(write, tables=tables, run="a", token="second")[0] == "TransactionCanceledException"
    tables.delete_item(TableName="runs", Key={"run": {"S": "a"}})
    write(tables, "a", "second")


def test_a_file_system_is_made_once_for_its_token(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    wanted = {"FileSystemType": "LUSTRE", "SubnetIds": [subnet], "ClientRequestToken": "token"}
    fsx = local_aws.client("fsx")

    one, two = (
        fsx.create_file_system(StorageCapacity=1200, **wanted)["FileSystem"]["FileSystemId"] for _ in range(2)
    )
    assert one == two
    code, _ = refusal(fsx.create_file_system, StorageCapacity=2400, **wanted)
    assert code == "IncompatibleParameterError"


def test_mock_aws_beside_a_local_aws_knows_no_tokens(local_aws: LocalAws) -> None:
    assert local_aws.endpoint
    with mock_aws():
        keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
        tables = boto3.client("dynamodb", region_name="us-east-2", **keys)
        tables.create_table(**TABLE)
        write(tables, "a")
        assert refusal(write, tables=tables, run="a")[0] == "TransactionCanceledException"
