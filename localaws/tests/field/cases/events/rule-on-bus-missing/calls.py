client("events").put_rule(Name="r", EventBusName="absent", EventPattern='{"source": ["a"]}')
