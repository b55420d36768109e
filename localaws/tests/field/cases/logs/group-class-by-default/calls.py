g = client("logs")
g.create_log_group(logGroupName="plain")
g.create_log_group(logGroupName="rare", logGroupClass="INFREQUENT_ACCESS")
found = {one["logGroupName"]: one.get("logGroupClass") for one in g.describe_log_groups()["logGroups"]}
assert found == {"plain": "STANDARD", "rare": "INFREQUENT_ACCESS"}
