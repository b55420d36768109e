events = client("events")
events.put_rule(Name="r", ScheduleExpression="rate(1 minute)")
topic = client("sns").create_topic(Name="t")["TopicArn"]
transformer = {"InputPathsMap": {"one": "$.detail"}, "InputTemplate": '"<notdefinedkey>"'}
events.put_targets(Rule="r", Targets=[{"Id": "t", "Arn": topic, "InputTransformer": transformer}])
