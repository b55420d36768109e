logs = client("logs")
logs.create_log_group(logGroupName="/field")
logs.describe_log_groups(logGroupNamePrefix="/f", logGroupNamePattern="f")
