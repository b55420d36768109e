logs = client("logs")
logs.create_log_group(logGroupName="/field")
logs.create_log_stream(logGroupName="/field", logStreamName="s")
now = int(local.clock.now().timestamp() * 1000)
events = [{"timestamp": now, "message": "b"}, {"timestamp": now - 1000, "message": "a"}]
logs.put_log_events(logGroupName="/field", logStreamName="s", logEvents=events)
