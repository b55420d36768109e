events = client("events")
events.describe_rule(Name="nope")
