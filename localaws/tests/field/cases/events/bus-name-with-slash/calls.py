client("events").create_event_bus(Name="team/a")
