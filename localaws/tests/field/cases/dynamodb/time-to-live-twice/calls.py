d = client("dynamodb")
table = {
    "TableName": "t",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
}
d.create_table(**table)
for _ in range(2):
    d.update_time_to_live(TableName="t", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
