import json

detail = json.dumps({"x": "y" * 1_100_000})
client("events").put_events(Entries=[{"Source": "a", "DetailType": "b", "Detail": detail}])
