v = client("events")
v.put_rule(Name="r", ScheduleExpression="rate(1 hour)")
arn = "arn:aws:sqs:us-east-1:123456789012:q"
v.put_targets(Rule="r", Targets=[{"Id": str(n), "Arn": arn} for n in range(6)])
