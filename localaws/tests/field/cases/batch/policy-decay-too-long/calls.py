client("batch").create_scheduling_policy(name="p", fairsharePolicy={"shareDecaySeconds": 691200})
