import json

body = {
    "widgets": [
        {
            "type": "metric",
            "x": 0,
            "y": 0,
            "width": 6,
            "height": 6,
            "properties": {"region": "us-east-1", "metrics": [["A", "m", {"color": "red"}]]},
        }
    ]
}
client("cloudwatch").put_dashboard(DashboardName="one", DashboardBody=json.dumps(body))
