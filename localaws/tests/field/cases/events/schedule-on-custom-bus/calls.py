events = client("events")
events.create_event_bus(Name="bus")
events.put_rule(Name="r", EventBusName="bus", ScheduleExpression="rate(1 minute)")
