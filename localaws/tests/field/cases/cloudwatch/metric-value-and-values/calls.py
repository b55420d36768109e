client("cloudwatch").put_metric_data(
    Namespace="n", MetricData=[{"MetricName": "m", "Value": 1, "Values": [1, 2]}]
)
