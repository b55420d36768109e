d = client("dynamodb")
d.create_table(
    TableName="t",
    BillingMode="PAY_PER_REQUEST",
    DeletionProtectionEnabled=True,
    AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}],
    KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
)
d.delete_table(TableName="t")
