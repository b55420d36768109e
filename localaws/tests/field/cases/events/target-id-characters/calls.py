events = client("events")
events.put_rule(Name="r", ScheduleExpression="rate(1 minute)")
topic = client("sns").create_topic(Name="t")["TopicArn"]
events.put_targets(Rule="r", Targets=[{"Id": "!@#$@!#$", "Arn": topic}])
