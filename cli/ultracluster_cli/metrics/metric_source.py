"""Read metrics from a recording or from CloudWatch."""

from datetime import datetime, timedelta
from pathlib import Path

from ultracluster_cli._aws.target import time_there
from ultracluster_cli.options import wrong_option
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.metrics.metric_reads import record_metrics, recording_period
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_runtime.metrics.recording_file import read_recording
from ultracluster_spec.findings import FindingsError

_MOST_HOURS = 455 * 24  # CloudWatch keeps hourly values for 455 days


def read_metrics(
    *,
    recording: Path | None,
    cluster: str | None,
    region: str | None,
    hours: float,
    file_system_id: str | None,
    profile: str | None,
    until: datetime | None = None,
) -> Recording:
    """Read the metrics of a cluster from a recording, or from CloudWatch in the hours before a time, by default now."""
    if recording is not None and cluster is None:
        recorded, place = read_recording(recording), str(recording)
    elif cluster is not None and recording is None:
        recorded = _from_cloudwatch(cluster, region, hours, file_system_id, profile, until=until)
        place = f"CloudWatch in {recorded.region}"
    else:
        problem = "got both --from and --cluster" if recording else "got neither --from nor --cluster"
        raise FindingsError.message(problem, allowed="one of them")
    if not any(series.points for series in recorded.series):
        problem = f"{place} has no metrics of {recorded.cluster} in this period"
        remedy = "Check the name of the cluster, the Region and --hours; see `ultracluster docs training-metrics` for the published metrics"
        raise FindingsError.message(problem, remedy=remedy)
    return recorded


def _from_cloudwatch(
    cluster: str,
    region: str | None,
    hours: float,
    file_system_id: str | None,
    profile: str | None,
    *,
    until: datetime | None,
) -> Recording:
    if not 0 < hours <= _MOST_HOURS:
        allowed = f"more than 0 to {_MOST_HOURS:,}, the retention of CloudWatch metrics"
        raise FindingsError([wrong_option("--hours", hours, allowed=allowed)])
    now = time_there()
    # Without an end, the current minute is included.
    end = until or now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    start = end - timedelta(hours=hours)
    clients = clients_of(profile)
    try:
        cloudwatch = clients("cloudwatch", region)
        return record_metrics(
            cloudwatch,
            cluster=cluster,
            region=cloudwatch.meta.region_name,
            start=start,
            end=end,
            period=recording_period(start, end, now=now),
            file_system_id=file_system_id,
        )
    except FindingsError:
        raise
    except AWS_ERRORS as error:
        remedy = "Check the credentials, their permissions (cloudwatch:ListMetrics, cloudwatch:GetMetricData) and the Region"
        raise FindingsError.message(problem_of(error), remedy=remedy) from error
