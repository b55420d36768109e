client("logs").create_log_group(logGroupName="g" * 513)
