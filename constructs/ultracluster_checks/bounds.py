"""Numbers, lengths and names that the APIs of AWS refuse, for which CloudFormation's schemas have no bounds."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, NODE_GROUP
from ultracluster_checks.model.template import Resource, Templates, places
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.findings import quote

_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}"
_MONTHS: Final = (60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
_DEFINITION: Final = "Batch::JobDefinition"
# Type, path and bounds; of a list, those of its length. From the models of the services in botocore 1.44.5 and the quotas of
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html
# and https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html (2026-11).
_NUMBERS: Final = (
    ("Lambda::Function", "MemorySize", 128, 10_240),
    ("Lambda::Function", "Timeout", 1, 900),
    ("Lambda::Function", "EphemeralStorage.Size", 512, 10_240),
    ("Lambda::Function", "Layers", 0, 5),
    ("SQS::Queue", "MessageRetentionPeriod", 60, 1_209_600),
    ("SQS::Queue", "VisibilityTimeout", 0, 43_200),
    ("IAM::Role", "MaxSessionDuration", 3600, 43_200),
    ("IAM::Role", "ManagedPolicyArns", 0, 20),
    ("KMS::Key", "PendingWindowInDays", 7, 30),
    ("Batch::SchedulingPolicy", "FairsharePolicy.ShareDecaySeconds", 0, 604_800),
    ("Batch::SchedulingPolicy", "FairsharePolicy.ComputeReservation", 0, 99),
    ("Batch::SchedulingPolicy", "FairsharePolicy.ShareDistribution.*.WeightFactor", 0, 999),
    ("Batch::JobQueue", "Priority", 0, 1000),
    ("Batch::JobQueue", "JobStateTimeLimitActions.*.MaxTimeSeconds", 600, 86_400),
    ("Batch::ComputeEnvironment", "ComputeResources.ScalingPolicy.MinScaleDownDelayMinutes", 20, 10_080),
    (_DEFINITION, "SchedulingPriority", 0, 9999),
    (_DEFINITION, "NodeProperties.NumNodes", 1, 1000),
    (_DEFINITION, "RetryStrategy.EvaluateOnExit", 0, 5),
    ("Events::Rule", "Targets", 0, 5),
    ("EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.Ebs.Throughput", 125, 2000),
    ("EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.Ebs.Iops", 100, 256_000),
)
_TEXTS: Final = (
    ("Batch::JobQueue", "JobQueueName", _NAME),
    ("Batch::ComputeEnvironment", "ComputeEnvironmentName", _NAME),
    (_DEFINITION, "JobDefinitionName", _NAME),
    ("IAM::Role", "RoleName", r"[\w+=,.@-]{1,64}"),
    ("S3::Bucket", "BucketName", r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"),
    ("Logs::LogGroup", "RetentionInDays", "|".join(map(str, (1, 3, 5, 7, 14, 30, *_MONTHS)))),
    ("Events::Rule", "ScheduleExpression", r"rate\((1 (minute|hour|day)|([2-9]|\d{2,}) (minutes|hours|days))\)|cron\(\S+( \S+){5}\)"),
    ("CloudWatch::Alarm", "Period", r"10|20|30|\d*[1-9]\d*0|60"),
    ("FSx::FileSystem", "LustreConfiguration.WeeklyMaintenanceStartTime", r"[1-7]:([01]\d|2[0-3]):[0-5]\d"),
    ("FSx::DataRepositoryAssociation", "DataRepositoryPath", r"s3://.+|\$\{.*"),
)  # fmt: skip


@rule("UC6458")
def values_are_within_bounds(templates: Templates) -> Iterator[Wrong]:
    """Find numbers, lengths and names that the API of a service refuses."""
    for kind, path, least, most in _NUMBERS:
        for at in places(templates, kind, path):
            number = len(at.certain) if isinstance(at.value, list) else at.number
            if number is not None and not least <= number <= most:
                yield at, f"got {number:,}{' items' if at.items else ''}", f"{least:,} to {most:,}"
    for kind, path, form in _TEXTS:
        for at in places(templates, kind, path):
            if at.text is not None and not re.fullmatch(form, at.text):
                yield at, f"got {quote(at.text)}, which AWS refuses", f"text of the form {form}"


@rule("UC6458", "AWS::EC2::LaunchTemplate")
def volumes_have_room_for_their_iops(template: Resource) -> Iterator[Wrong]:
    """Find gp3 volumes with more IOPS for each GiB, or throughput for each of the IOPS, than Amazon EBS offers."""
    for disk in (each["Ebs"] for each in template["LaunchTemplateData"]["BlockDeviceMappings"].items):
        size, iops, throughput = (disk[name].number for name in ("VolumeSize", "Iops", "Throughput"))
        if disk["VolumeType"].text == "gp3" and size and iops and iops > max(3000, 500 * size):
            yield disk["Iops"], f"got {iops:,} for {size:,} GiB", f"up to {max(3000, 500 * size):,}"
        if disk["VolumeType"].text == "gp3" and throughput and throughput * 4 > (iops or 3000):
            got = f"got {throughput:,} MiB/s for {iops or 3000:,} IOPS"
            yield disk["Throughput"], got, f"up to {(iops or 3000) // 4:,}"


@rule("UC6458", "AWS::CloudWatch::Alarm")
def alarms_have_as_many_periods(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms that ask for more datapoints than periods, or for periods that CloudWatch does not keep."""
    periods = alarm["EvaluationPeriods"].number
    wanted = alarm["DatapointsToAlarm"]
    seconds = alarm["Period"].number
    if periods and wanted.number and wanted.number > periods:
        yield wanted, f"got {wanted.number} of {periods} periods", f"up to {periods}"
    longest = 604_800 if seconds and seconds >= 3600 else 86_400  # noqa: PLR2004 - PutMetricAlarm: a week, else a day
    if periods and seconds and periods * seconds > longest:
        got = f"got {periods} periods of {seconds:,} seconds"
        yield alarm["EvaluationPeriods"], got, f"up to {longest:,} seconds"


@rule("UC6458", "AWS::FSx::FileSystem")
def lustre_is_in_one_subnet(resource: Resource) -> Iterator[Wrong]:
    """Find Lustre file systems with several subnets."""
    subnets = resource["SubnetIds"]
    if resource["FileSystemType"].text == "LUSTRE" and len(subnets.certain) > 1:
        yield subnets, f"got {len(subnets.certain)} subnets", "one subnet"


@rule("UC6458", AUTO_SCALING_GROUP, NODE_GROUP, "AWS::AutoScaling::ScheduledAction")
def sizes_are_in_order(group: Resource) -> Iterator[Wrong]:
    """Find groups and scheduled actions that want fewer nodes than they keep, or more than they may have."""
    sizes = group["ScalingConfig"] if group.type == NODE_GROUP else group.properties
    least, wanted, most = (
        sizes["MinSize"],
        sizes["DesiredSize" if group.type == NODE_GROUP else "DesiredCapacity"],
        sizes["MaxSize"],
    )
    held = group["AutoScalingGroupName"].target
    if held is not None and most.missing:
        most = held["MaxSize"]
    for at, limit in ((least, wanted), (least, most), (wanted, most)):
        if at.number is not None and limit.number is not None and at.number > limit.number:
            yield at, f"got {at.number}, and {limit.path[-1]} is {limit.number}", f"up to {limit.number}"
