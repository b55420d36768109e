v = client("events")
v.create_event_bus(Name="own")
v.put_permission(EventBusName="own", StatementId="a", Action="events:PutEvents", Principal="*")
v.remove_permission(EventBusName="own", StatementId="b")
