import json

body = {
    "widgets": [
        {
            "type": "alarm",
            "x": 0,
            "y": 0,
            "width": 6,
            "height": 6,
            "properties": {"title": "Alarms", "alarms": []},
        }
    ]
}
client("cloudwatch").put_dashboard(DashboardName="one", DashboardBody=json.dumps(body))
