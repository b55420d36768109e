client("events").put_events(Entries=[{"Source": "a", "DetailType": "b", "Detail": "{}"}] * 11)
