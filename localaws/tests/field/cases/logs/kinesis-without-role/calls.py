logs = client("logs")
logs.create_log_group(logGroupName="/field")
arn = f"arn:aws:kinesis:{REGION}:123456789012:stream/s"
logs.put_subscription_filter(logGroupName="/field", filterName="f", filterPattern="", destinationArn=arn)
