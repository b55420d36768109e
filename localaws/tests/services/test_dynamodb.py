"""Tables that are protected against deletion, and transactions that are written once."""

from tests.refusals import refusal

from ultracluster_local import LocalAws


def test_a_protected_table_is_deleted_once_its_protection_ends(local_aws: LocalAws) -> None:
    tables = local_aws.client("dynamodb")
    tables.create_table(
        TableName="runs",
        BillingMode="PAY_PER_REQUEST",
        DeletionProtectionEnabled=True,
        AttributeDefinitions=[{"AttributeName": "run", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "run", "KeyType": "HASH"}],
    )

    assert "Disable deletion protection first" in refusal(tables.delete_table, TableName="runs")[1]
    tables.update_table(TableName="runs", DeletionProtectionEnabled=False)
    tables.delete_table(TableName="runs")


def test_a_transaction_is_written_once_for_each_token(local_aws: LocalAws) -> None:
    tables = local_aws.client("dynamodb")
    tables.create_table(
        TableName="runs",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "run", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "run", "KeyType": "HASH"}],
    )

    def write(run: str, token: str) -> None:
        put = {
            "TableName": "runs",
            "Item": {"run": {"S": run}},
            "ConditionExpression": "attribute_not_exists(run)",
        }
        tables.transact_write_items(TransactItems=[{"Put": put}], ClientRequestToken=token)

    write("a", "first")
    write("a", "first")

    assert refusal(write, run="b", token="first")[0] == "IdempotentParameterMismatchException"
    assert refusal(write, run="a", token="second")[0] == "TransactionCanceledException"
