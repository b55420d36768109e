logs = client("logs")
logs.create_log_group(logGroupName="/field")
transformations = [{"metricNamespace": f"n{i}", "metricName": f"m{i}", "metricValue": "1"} for i in range(2)]
logs.put_metric_filter(
    logGroupName="/field", filterName="f", filterPattern="p", metricTransformations=transformations
)
