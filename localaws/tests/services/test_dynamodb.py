"""Tables that are protected against deletion."""

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


def test_a_table_that_is_not_there_is_named(local_aws: LocalAws) -> None:
    said = refusal(local_aws.client("dynamodb").delete_table, TableName="runs")
    # localstack/localstack, test_dynamodb.snapshot.json
    assert said == ("ResourceNotFoundException", "Requested resource not found: Table: runs not found")
