client("dynamodb").describe_table(TableName="absent")
