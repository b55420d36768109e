logs = client("logs")
logs.create_log_group(logGroupName="/field")
for _ in range(2):
    logs.create_log_stream(logGroupName="/field", logStreamName="s")
