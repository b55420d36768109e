events = client("events")
events.delete_event_bus(Name="default")
