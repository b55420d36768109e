b = client("batch")
shares = [{"shareIdentifier": "UserA*"}, {"shareIdentifier": "UserA1"}]
b.create_scheduling_policy(name="p", fairsharePolicy={"shareDistribution": shares})
