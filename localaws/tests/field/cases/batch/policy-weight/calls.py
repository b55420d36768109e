b = client("batch")
shares = [{"shareIdentifier": "a", "weightFactor": 1000.0}]
b.create_scheduling_policy(name="p", fairsharePolicy={"shareDistribution": shares})
