logs = client("logs")
logs.create_log_group(logGroupName="/field")
logs.delete_resource_policy(policyName="non-existent")
