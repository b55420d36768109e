cloudwatch = client("cloudwatch")
cloudwatch.put_metric_alarm(
    AlarmName="a",
    Namespace="n",
    MetricName="m",
    Period=60,
    EvaluationPeriods=1,
    Threshold=1,
    Statistic="Sum",
    ComparisonOperator="GreaterThanThreshold",
)
cloudwatch.set_alarm_state(AlarmName="a", StateValue="INVALID", StateReason="r")
