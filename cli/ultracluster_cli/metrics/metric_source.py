"""Where the commands that look at metrics take them from: a recording, or CloudWatch."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.metrics.recorded_metrics import Recording, read_recording

__all__ = ["MetricSource", "read_metrics"]

_MOST_HOURS = 455 * 24  # CloudWatch keeps values of an hour for 455 days


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricSource:
    """What the command line says of it.

    Attributes:
        recording: File to read. None for CloudWatch.
        cluster: Name of the cluster in CloudWatch. None for a recording.
        region: Its Region. None for that of the credentials.
        hours: How far to look back in CloudWatch.
        file_system_id: File system to look at too. None for none.
        profile: Profile of the AWS configuration. None for boto3's own choice.
    """

    recording: Path | None
    cluster: str | None
    region: str | None
    hours: float
    file_system_id: str | None
    profile: str | None


def read_metrics(source: MetricSource) -> Recording:
    """Read them.

    Args:
        source: Where from.

    Raises:
        FindingsError: If the file is no recording (UC9330), both or neither of the sources were given (UC9332), the
            time is out of bounds (UC9333), CloudWatch refuses or cannot be reached (UC9334), it has no value (UC9335), or there is no such profile (UC9009).
    """
    if (source.recording is None) == (source.cluster is None):
        problem = "got both --from and --cluster" if source.recording else "got neither --from nor --cluster"
        raise FindingsError([Finding(code="UC9332", problem=problem, allowed="one of them")])
    if source.recording is not None:
        recorded = read_recording(source.recording)
        place = str(source.recording)
    else:
        recorded = _from_cloudwatch(source)
        place = f"CloudWatch in {recorded.region}"
    if not any(each.points for each in recorded.series):
        problem = f"{place} has no value of {recorded.cluster} in this time"
        remedy = "Check the name of the cluster, the Region and --hours; docs/training-metrics.md says what is published"
        raise FindingsError([Finding(code="UC9335", problem=problem, remedy=remedy)])
    return recorded


def _from_cloudwatch(source: MetricSource) -> Recording:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - a recording needs no AWS

    from ultracluster_runtime.aws.aws_session import aws_session  # noqa: PLC0415 - as above
    from ultracluster_runtime.metrics.metric_reads import record_metrics, recording_period  # noqa: PLC0415 - as above

    if not 0 < source.hours <= _MOST_HOURS:
        problem = f"got {quote(source.hours)}"
        allowed = f"more than 0 to {_MOST_HOURS:,}, which is how long CloudWatch keeps metrics"
        raise FindingsError([Finding(code="UC9333", problem=problem, allowed=allowed, path="--hours")])
    now = datetime.now(UTC)
    end = now.replace(second=0, microsecond=0) + timedelta(minutes=1)  # the minute that runs counts
    start = end - timedelta(hours=source.hours)
    session = aws_session(source.profile)
    try:
        cloudwatch = session.client("cloudwatch", region_name=source.region)
        return record_metrics(
            cloudwatch,
            cluster=source.cluster or "",
            region=cloudwatch.meta.region_name,
            start=start,
            end=end,
            period=recording_period(start, end, now=now),
            file_system_id=source.file_system_id,
        )
    except (BotoCoreError, ClientError) as error:
        remedy = "Check the credentials, their permissions (cloudwatch:ListMetrics, cloudwatch:GetMetricData) and the Region"
        raise FindingsError([Finding(code="UC9334", problem=str(error), remedy=remedy)]) from error
