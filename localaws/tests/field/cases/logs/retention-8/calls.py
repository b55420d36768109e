c = client("logs")
c.create_log_group(logGroupName="g")
c.put_retention_policy(logGroupName="g", retentionInDays=8)
