client("dynamodb").create_table(
    TableName="t",
    BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[
        {"AttributeName": "Artist", "AttributeType": "S"},
        {"AttributeName": "SongTitle", "AttributeType": "S"},
    ],
    KeySchema=[{"AttributeName": "Artist", "KeyType": "HASH"}],
)
