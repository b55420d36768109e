client("cloudwatch").put_metric_data(
    Namespace="n", MetricData=[{"MetricName": "m", "Values": [1, 2], "Counts": [1]}]
)
