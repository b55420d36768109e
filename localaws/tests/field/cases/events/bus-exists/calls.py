events = client("events")
for _ in range(2):
    events.create_event_bus(Name="bus")
