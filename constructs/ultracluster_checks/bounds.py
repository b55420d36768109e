"""Numbers, lengths and names that the APIs of AWS refuse, for which CloudFormation's schemas have no bounds."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_checks.codes import BOUNDS
from ultracluster_checks.model.permissions import NAMES
from ultracluster_checks.model.template import CONTAINER, Property, Resource, Templates, places
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.findings import quote

# Of gp3 volumes: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html (2026-11)
_LEAST_IOPS, _MOST_IOPS, _IOPS_PER_GIB, _IOPS_PER_MIBPS = 3_000, 80_000, 500, 4
_PERIODS: Final = (10, 20, 30)  # seconds, beside whole minutes
_SIZED: Final = ("AWS::AutoScaling::AutoScalingGroup", "AWS::AutoScaling::ScheduledAction", "AWS::EKS::Nodegroup")  # fmt: skip
_IN_ORDER: Final = ("MinSize", "DesiredCapacity", "DesiredSize", "MaxSize")
# Days until objects move to infrequent access: https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html (2026-11)
_DAYS: Final = 30
# Six fields, with one ? for the day of the month or of the week, which begins with 1. EventBridge user guide, cron expressions (2026-11).
_CRON: Final = r"cron\(\S+ \S+ (\? \S+ (?!\S*0)[^?\s]\S*|[^?\s]\S* \S+ \?) \S+\)"
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}"
_MONTHS: Final = (60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
# By type: path, least and most; of a list, those of its length. From the models of the services in botocore 1.44.5 and the quotas of
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html,
# https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html,
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html and https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service-quotas.html
# (2026-11).
_NUMBERS: Final = {
    "AutoScaling::LifecycleHook": "HeartbeatTimeout 30 7200",
    "Batch::ComputeEnvironment": "ComputeResources.ScalingPolicy.MinScaleDownDelayMinutes 20 10080, ComputeResources.BidPercentage 1 100, "
    "ComputeResources.Ec2Configuration 0 2, ComputeResources.Subnets 0 16, ComputeResources.SecurityGroupIds 0 5, "
    "UpdatePolicy.JobExecutionTimeoutMinutes 1 7200",
    "Batch::JobDefinition": "SchedulingPriority 0 9999, NodeProperties.NumNodes 1 1000, RetryStrategy.EvaluateOnExit 0 5, "
    "ContainerProperties.LinuxParameters.Swappiness 0 100",
    "Batch::JobQueue": "Priority 0 1000, JobStateTimeLimitActions.*.MaxTimeSeconds 600 86400",
    "Batch::SchedulingPolicy": "FairsharePolicy.ShareDecaySeconds 0 604800, FairsharePolicy.ComputeReservation 0 99, "
    "FairsharePolicy.ShareDistribution.*.WeightFactor 0 999, FairsharePolicy.ShareDistribution 0 500",
    "Budgets::Budget": "NotificationsWithSubscribers 0 10, NotificationsWithSubscribers.*.Subscribers 0 11",
    "CloudWatch::Alarm": "AlarmActions 0 5, OKActions 0 5, Dimensions 0 30, EvaluationPeriods 1 604800, DatapointsToAlarm 1 604800",
    "DynamoDB::Table": "GlobalSecondaryIndexes 0 20, LocalSecondaryIndexes 0 5, ProvisionedThroughput.ReadCapacityUnits 1 40000, "
    "ProvisionedThroughput.WriteCapacityUnits 1 40000",
    "EC2::CapacityReservation": "InstanceCount 1 1000",
    "EC2::Instance": "MetadataOptions.HttpPutResponseHopLimit 1 64",
    "EC2::LaunchTemplate": "LaunchTemplateData.BlockDeviceMappings.*.Ebs.Throughput 125 2000, LaunchTemplateData.BlockDeviceMappings.*.Ebs.Iops 100 256000, "
    "LaunchTemplateData.BlockDeviceMappings.*.Ebs.VolumeSize 1 65536, LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit 1 64, "
    "LaunchTemplateData.NetworkInterfaces.*.Groups 0 16, LaunchTemplateData.Placement.PartitionNumber 1 7, LaunchTemplateData.CpuOptions.ThreadsPerCore 1 2",
    "EC2::PlacementGroup": "PartitionCount 1 7",
    "EC2::SecurityGroup": "SecurityGroupIngress 0 1000, SecurityGroupEgress 0 1000, SecurityGroupIngress.*.FromPort -1 65535, "
    "SecurityGroupIngress.*.ToPort -1 65535, SecurityGroupEgress.*.FromPort -1 65535, SecurityGroupEgress.*.ToPort -1 65535",
    "EC2::SecurityGroupEgress": "FromPort -1 65535, ToPort -1 65535",
    "EC2::SecurityGroupIngress": "FromPort -1 65535, ToPort -1 65535",
    "ECS::Service": "DesiredCount 0 5000, NetworkConfiguration.AwsvpcConfiguration.Subnets 0 16, NetworkConfiguration.AwsvpcConfiguration.SecurityGroups 0 5",
    "ECS::TaskDefinition": "ContainerDefinitions 1 10, ContainerDefinitions.*.HealthCheck.Interval 5 300, ContainerDefinitions.*.HealthCheck.Timeout 2 120, "
    "ContainerDefinitions.*.Memory 4 25165824, ContainerDefinitions.*.HealthCheck.Retries 1 10, ContainerDefinitions.*.HealthCheck.StartPeriod 0 300, EphemeralStorage.SizeInGiB 21 200",
    "EKS::Nodegroup": "UpdateConfig.MaxUnavailable 1 100, UpdateConfig.MaxUnavailablePercentage 1 100, ScalingConfig.MaxSize 1 100000, Taints 0 50",
    "Events::Rule": "Targets 0 5, Targets.*.RetryPolicy.MaximumRetryAttempts 0 185, Targets.*.RetryPolicy.MaximumEventAgeInSeconds 60 86400, "
    "Targets.*.BatchParameters.RetryStrategy.Attempts 1 10, Targets.*.BatchParameters.ArrayProperties.Size 2 10000",
    "IAM::InstanceProfile": "Roles 1 1",
    "IAM::Role": "MaxSessionDuration 3600 43200, ManagedPolicyArns 0 10, Tags 0 50",
    "ImageBuilder::ImagePipeline": "ImageTestsConfiguration.TimeoutMinutes 60 1440",
    "KMS::Key": "PendingWindowInDays 7 30, RotationPeriodInDays 90 2560",
    "Lambda::EventInvokeConfig": "MaximumRetryAttempts 0 2, MaximumEventAgeInSeconds 60 21600",
    "Lambda::EventSourceMapping": "BatchSize 1 10000, MaximumBatchingWindowInSeconds 0 300, ParallelizationFactor 1 10, MaximumRetryAttempts -1 10000",
    "Lambda::Function": "MemorySize 128 10240, Timeout 1 900, EphemeralStorage.Size 512 10240, Layers 0 5, VpcConfig.SubnetIds 0 16, "
    "VpcConfig.SecurityGroupIds 0 5, ReservedConcurrentExecutions 0 100000",
    "Logs::MetricFilter": "MetricTransformations 1 1",
    "S3::Bucket": "LifecycleConfiguration.Rules 0 1000, LifecycleConfiguration.Rules.*.AbortIncompleteMultipartUpload.DaysAfterInitiation 1 36500, "
    "LifecycleConfiguration.Rules.*.ExpirationInDays 1 36500, LifecycleConfiguration.Rules.*.NoncurrentVersionExpiration.NoncurrentDays 1 36500, "
    "LifecycleConfiguration.Rules.*.NoncurrentVersionExpiration.NewerNoncurrentVersions 1 100",
    "SQS::Queue": "MessageRetentionPeriod 60 1209600, VisibilityTimeout 0 43200, DelaySeconds 0 900, MaximumMessageSize 1024 1048576, "
    "ReceiveMessageWaitTimeSeconds 0 20, KmsDataKeyReusePeriodSeconds 60 86400",
    "SageMaker::Cluster": "InstanceGroups 1 100, InstanceGroups.*.InstanceCount 0 6758, InstanceGroups.*.ThreadsPerCore 1 2",
    "Scheduler::Schedule": "Target.RetryPolicy.MaximumRetryAttempts 0 185, Target.RetryPolicy.MaximumEventAgeInSeconds 60 86400, "
    "FlexibleTimeWindow.MaximumWindowInMinutes 1 1440",
}  # fmt: skip
_TEXTS: Final = (
    ("Batch::JobQueue", "JobQueueName", _NAME),
    ("Batch::ComputeEnvironment", "ComputeEnvironmentName", _NAME),
    ("Batch::JobDefinition", "JobDefinitionName", _NAME),
    ("IAM::Role", "RoleName", r"[\w+=,.@-]{1,64}"),
    ("S3::Bucket", "BucketName", r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"),
    ("Logs::LogGroup", "RetentionInDays", "|".join(map(str, (1, 3, 5, 7, 14, 30, *_MONTHS)))),
    ("Events::Rule", "ScheduleExpression", r"rate\((1 (minute|hour|day)|([2-9]|\d{2,}) (minutes|hours|days))\)|" + _CRON),
    ("FSx::FileSystem", "LustreConfiguration.WeeklyMaintenanceStartTime", r"[1-7]:([01]\d|2[0-3]):[0-5]\d"),
    ("FSx::DataRepositoryAssociation", "DataRepositoryPath", r"s3://.+|\$\{.*"),
    ("Scheduler::Schedule", "ScheduleExpression", r"rate\(\d+ (minutes?|hours?|days?)\)|" + _CRON + r"|at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)"),
    ("Batch::JobQueue", "JobStateTimeLimitActions.*.Reason", "|".join(map(re.escape, WAIT_LIMIT_REASONS.values()))),
    ("EC2::VPC EC2::Subnet", "CidrBlock", r".+/(1[6-9]|2[0-8])"),
    ("ECR::Repository", "RepositoryName", r"[a-z0-9]+([._/-]+[a-z0-9]+)*"),
    ("KMS::Alias", "AliasName", r"alias/(?!aws/)[\w/-]{1,250}"),
    ("Lambda::Function", "FunctionName", r"[\w-]{1,64}|arn:.*"),
    ("SQS::Queue", "QueueName", r"[\w-]{1,80}|[\w-]{1,75}\.fifo"),
    ("SNS::Topic", "TopicName", r"[\w-]{1,256}|[\w-]{1,251}\.fifo"),
    ("DynamoDB::Table", "TableName", r"[\w.-]{3,255}"),
    ("Events::Rule", "Name", r"[\w.-]{1,64}"),
    ("Scheduler::Schedule", "Name", r"[\w.-]{1,64}"),
    ("StepFunctions::StateMachine", "StateMachineName", r"[^\s<>{}\[\]?*\"#%\\^|~`$&,;:/]{1,80}"),
    ("SageMaker::Cluster", "ClusterName", r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}"),
    ("EKS::Cluster", "Name", r"[A-Za-z0-9][\w-]{0,99}"),
    ("EC2::FlowLog", "MaxAggregationInterval", "60|600"),
)  # fmt: skip


_GAP: Final = re.compile(r"\$\{[^}]*\}")
# Of the items of one list.
_UNIQUE: Final = (
    (CONTAINER, "Volumes.*.Name"),
    ("Batch::JobDefinition", "NodeProperties.NodeRangeProperties.*.TargetNodes"),
    ("Batch::JobQueue", "ComputeEnvironmentOrder.*.ComputeEnvironment"),
    ("Batch::SchedulingPolicy", "FairsharePolicy.ShareDistribution.*.ShareIdentifier"),
    ("DynamoDB::Table", "AttributeDefinitions.*.AttributeName"),
    ("EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.DeviceName"),
    ("ECS::TaskDefinition", "ContainerDefinitions.*.Name"),
    ("ECS::TaskDefinition", "Volumes.*.Name"),
    ("Events::Rule", "Targets.*.Id"),
    ("S3::Bucket", "LifecycleConfiguration.Rules.*.Id"),
    ("SageMaker::Cluster", "InstanceGroups.*.InstanceGroupName"),
)


@rule(BOUNDS)
def names_are_unique(templates: Templates) -> Iterator[Wrong]:
    """Find names that two items of a list, or two resources of a type in one template, have."""
    named = [(kind.removeprefix("AWS::"), path) for kind, path in NAMES.items()]
    for kind, path in (*_UNIQUE, *named):
        first: dict[tuple[object, str], Property] = {}
        for at in places(templates, kind, path):
            group = (at.resource, *at.path[:-2]) if "*" in path else at.resource.template
            other = first.setdefault((group, at.pattern), at) if at.pattern and not at.unknown else at
            if other is not at and not at.resource.body.get("Condition"):
                yield at, f"got {at.pattern}, which {other} is, too", "a name of its own"


@rule(BOUNDS)
def values_are_within_bounds(templates: Templates) -> Iterator[Wrong]:
    """Find numbers, lengths and names that the API of a service refuses."""
    bounds = ((kind, *row.split()) for kind, rows in _NUMBERS.items() for row in rows.split(", "))
    for kind, path, low, high in bounds:
        least, most = int(low), int(high)
        for at in places(templates, kind, path):
            number = len(at.certain) if isinstance(at.value, list) else at.number
            if number is not None and not least <= number <= most:
                yield at, f"got {number:,}{' items' if at.items else ''}", f"{least:,} to {most:,}"
    for kind, path, form in _TEXTS:
        for at in places(templates, kind, path):
            text = _GAP.sub("a", at.pattern) if path == "BucketName" and not at.unknown else at.text
            if text and not re.fullmatch(form, text):
                yield at, f"got {quote(at.pattern)}, which AWS refuses", f"text of the form {form}"


@rule(BOUNDS, "AWS::EC2::LaunchTemplate")
def volumes_have_room_for_their_iops(template: Resource) -> Iterator[Wrong]:
    """Find gp3 volumes with more IOPS for each GiB, or throughput for each of the IOPS, than Amazon EBS offers."""
    disks = [device["Ebs"] for device in template["LaunchTemplateData"]["BlockDeviceMappings"].items]
    for disk in (disk for disk in disks if disk["VolumeType"].text == "gp3"):
        size, iops, throughput = (disk[name].number for name in ("VolumeSize", "Iops", "Throughput"))
        most = min(max(_LEAST_IOPS, _IOPS_PER_GIB * size), _MOST_IOPS) if size else _MOST_IOPS
        if iops and iops > most:
            yield disk["Iops"], f"got {iops:,} for {size or 'unknown'} GiB", f"up to {most:,}"
        held = (iops or _LEAST_IOPS) // _IOPS_PER_MIBPS
        if throughput and throughput > held:
            yield disk["Throughput"], f"got {throughput:,} MiB/s", f"up to {held:,} with its IOPS"


@rule(BOUNDS, "AWS::CloudWatch::Alarm")
def alarms_have_as_many_periods(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms that ask for more datapoints than periods, or for periods that CloudWatch does not keep."""
    periods, seconds = alarm["EvaluationPeriods"].number, alarm["Period"].number
    wanted = alarm["DatapointsToAlarm"]
    if periods and wanted.number and wanted.number > periods:
        yield wanted, f"got {wanted.number} of {periods} periods", f"up to {periods}"
    if seconds and seconds not in _PERIODS and seconds % 60:
        yield alarm["Period"], f"got {seconds} seconds", "10, 20, 30 or whole minutes"
    longest = 604_800 if seconds and seconds >= 3600 else 86_400  # noqa: PLR2004 - PutMetricAlarm: a week, else a day
    if periods and seconds and periods * seconds > longest:
        got = f"got {periods} periods of {seconds:,} seconds"
        yield alarm["EvaluationPeriods"], got, f"up to {longest:,} seconds"


@rule(BOUNDS, "AWS::FSx::FileSystem")
def lustre_is_in_one_subnet(resource: Resource) -> Iterator[Wrong]:
    """Find Lustre file systems with several subnets."""
    subnets = resource["SubnetIds"]
    if resource["FileSystemType"].text == "LUSTRE" and len(subnets.certain) > 1:
        yield subnets, f"got {len(subnets.certain)} subnets", "one subnet"


@rule(BOUNDS, *_SIZED)
def sizes_are_in_order(group: Resource) -> Iterator[Wrong]:
    """Find groups whose least number of nodes is above the wanted or the largest one."""
    settings = group["ScalingConfig"] if group.type == "AWS::EKS::Nodegroup" else group.properties
    known = [settings[name] for name in _IN_ORDER if settings[name].number is not None]
    for first, second in pairwise(known):
        if (first.number or 0) > (second.number or 0):
            yield first, f"got {first.number}, and {second.path[-1]} is {second.number}", "no more than that"


@rule(BOUNDS, "AWS::S3::Bucket")
def objects_stay_before_they_move(bucket: Resource) -> Iterator[Wrong]:
    """Find transitions to infrequent access before the days that S3 asks for."""
    for part in bucket["LifecycleConfiguration"]["Rules"].items:
        moves = [*part["Transitions"].items, part["Transition"], *part["NoncurrentVersionTransitions"].items]
        for move in (move for move in moves if (move["StorageClass"].text or "").endswith("_IA")):
            for days in (move["TransitionInDays"], move["NoncurrentDays"]):
                if (days.number or _DAYS) < _DAYS:
                    yield days, f"got {days.number}, which S3 refuses", f"{_DAYS} or more"
