from datetime import timedelta

now = local.clock.now()
client("cloudwatch").get_metric_statistics(
    Namespace="n",
    MetricName="m",
    StartTime=now - timedelta(days=1),
    EndTime=now,
    Period=1,
    Statistics=["Sum"],
)
