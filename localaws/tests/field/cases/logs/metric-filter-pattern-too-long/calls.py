logs = client("logs")
logs.create_log_group(logGroupName="/field")
one = {"metricNamespace": "n", "metricName": "m", "metricValue": "1"}
logs.put_metric_filter(
    logGroupName="/field", filterName="f", filterPattern="X" * 1025, metricTransformations=[one]
)
