d = client("dynamodb")
table = {
    "TableName": "t",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
}
d.create_table(**table)
d.create_table(**table)
