"""Every role that our templates make: who assumes it, and each action that it may call, with the resources.

A role is known by its description. The resources are patterns of ARNs as `templates` resolves them. What is not here is not
allowed; a role that is not here fails the tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.security.templates import ACCOUNT

__all__ = ["ROLES", "SUBMITTERS", "Role"]

SUBMITTERS = "A role of one's own that may submit to SageMaker"
"""Description of a role of the user; the others are ours."""

_HERE = rf"[a-z0-9-]+:{ACCOUNT}"
ANY = r"\*"
"""No narrower than everything: the tests ask whether the action takes a resource at all."""

_OBJECTS = r"arn:aws:s3:::[a-z0-9-]+/(neuron/|team-a/neuron/)?\*"
_BUCKET = r"arn:aws:s3:::[a-z0-9-]+"
_OWN_LOGS = rf"arn:aws:logs:{_HERE}:log-group:[A-Za-z0-9/-]+:\*"
_REPOSITORY = rf"arn:aws:ecr:{_HERE}:repository/[A-Za-z0-9/-]+"
_CLUSTER = rf"arn:aws:ecs:{_HERE}:cluster/AWSBatch-[A-Za-z0-9]+-(\*|[a-z0-9]+)"
_CONTAINER_INSTANCES = rf"arn:aws:ecs:{_HERE}:container-instance/\*"
_INSTANCES = rf"arn:aws:ec2:{_HERE}:instance/\*|arn:aws:ssm:{_HERE}:managed-instance/\*"
_RESERVATIONS = rf"arn:aws:ec2:\*:{ACCOUNT}:capacity-reservation/\*"
_KEY_ARN = rf"arn:aws:kms:{_HERE}:key/[A-Za-z0-9-]+"
_OWN_KEY = {"kms:Decrypt": _KEY_ARN, "kms:GenerateDataKey": _KEY_ARN}
_QUEUE = rf"arn:aws:batch:{_HERE}:job-queue/[A-Za-z0-9]+"
_TOPIC = rf"arn:aws:sns:{_HERE}:[A-Za-z0-9-]+"
_STATES = rf"arn:aws:dynamodb:{_HERE}:table/[A-Za-z0-9]+"
_STATES_KEY = _OWN_KEY | {
    f"kms:{action}": _KEY_ARN for action in ("DescribeKey", "Encrypt", "ReEncryptFrom", "ReEncryptTo")
}
_LEDGER = rf"arn:aws:dynamodb:{_HERE}:table/[A-Za-z0-9]+"


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """What a role is.

    Attributes:
        assumed_by: The service that assumes it; the account's root for roles of people.
        may: Each action that it may call, and the resources, as a regular expression.
        always: Those of them that it may call in every cluster. The others depend on what a cluster has.
        managed: The policy of AWS that it has. Default: none, because AWS may widen one.
    """

    assumed_by: str
    may: Mapping[str, str]
    always: frozenset[str]
    managed: str | None = None


_LOG = {"logs:CreateLogStream": _OWN_LOGS, "logs:PutLogEvents": _OWN_LOGS}
_CHANNELS = {
    f"ssmmessages:{name}": ANY
    for name in ("CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel")
}
_PULL = {
    "ecr:BatchCheckLayerAvailability": _REPOSITORY,
    "ecr:BatchGetImage": _REPOSITORY,
    "ecr:GetAuthorizationToken": ANY,
    "ecr:GetDownloadUrlForLayer": _REPOSITORY,
}
_USE_BUCKET = {
    "s3:AbortMultipartUpload": _OBJECTS,
    "s3:GetObject": _OBJECTS,
    "s3:ListBucket": _BUCKET,
    "s3:PutObject": _OBJECTS,
}
_OF_NODES = {
    **{
        f"ecs:{name}": _CLUSTER
        for name in (
            "RegisterContainerInstance",
            "SubmitAttachmentStateChanges",
            "SubmitContainerStateChange",
            "SubmitTaskStateChange",
        )
    },
    **{
        f"ecs:{name}": _CONTAINER_INSTANCES
        for name in ("Poll", "StartTelemetrySession", "TagResource", "UpdateContainerInstancesState")
    },
    "ecs:DiscoverPollEndpoint": ANY,
    "ssm:UpdateInstanceInformation": _INSTANCES,
    **_CHANNELS,
}
_OF_THE_LIFE_CYCLE = {
    **_LOG,
    **{
        f"batch:{name}": ANY
        for name in ("DescribeComputeEnvironments", "DescribeJobQueues", "DescribeJobs", "ListJobs")
    },
    **{
        f"ec2:Describe{name}": ANY
        for name in (
            "CapacityBlockExtensionHistory",
            "CapacityBlockExtensionOfferings",
            "CapacityReservations",
            "Instances",
            "LaunchTemplateVersions",
        )
    },
    "batch:TerminateJob": rf"arn:aws:batch:{_HERE}:job/\*",
    "batch:UpdateComputeEnvironment": rf"arn:aws:batch:{_HERE}:compute-environment/[A-Za-z0-9]+",
    "batch:UpdateJobQueue": _QUEUE,
    "dynamodb:Scan": _STATES,
    "dynamodb:UpdateItem": _STATES,
    "ec2:GetConsoleOutput": rf"arn:aws:ec2:{_HERE}:instance/\*",
    "ecs:DescribeContainerInstances": rf"arn:aws:ecs:{_HERE}:container-instance/\*/\*",
    "logs:FilterLogEvents": rf"arn:aws:logs:{_HERE}:log-group:[A-Za-z0-9]+Metrics[A-Za-z0-9]+:\*",
    "sns:Publish": _TOPIC,
    "ssm:SendCommand": rf"arn:aws:ssm:[a-z0-9-]+::document/AWS-RunShellScript|arn:aws:ec2:{_HERE}:instance/\*",
}
_FLEET = rf"arn:aws:autoscaling:{_HERE}:autoScalingGroup:\*:autoScalingGroupName/[A-Za-z0-9]+"
_OF_A_FLEET = {
    "autoscaling:DescribeAutoScalingGroups": ANY,
    "autoscaling:SetDesiredCapacity": _FLEET,
    "autoscaling:SetInstanceProtection": _FLEET,
}
_LOOK_FOR_CAPACITY = {
    f"ec2:Describe{name}": ANY
    for name in (
        "AvailabilityZones",
        "CapacityBlockExtensionHistory",
        "CapacityBlockExtensionOfferings",
        "CapacityBlockOfferings",
        "CapacityBlockStatus",
        "CapacityBlocks",
        "CapacityReservations",
        "Instances",
        "Regions",
    )
}
_REHEARSALS = rf"arn:aws:ssm:(\*|[a-z0-9-]+):{ACCOUNT}:parameter/ultracluster/rehearsals/\*"
_READ_LEDGER = {f"dynamodb:{name}": _LEDGER for name in ("GetItem", "Query", "Scan")}


def _role(assumed_by: str, may: Mapping[str, str], *, sometimes: Mapping[str, str] | None = None) -> Role:
    return Role(assumed_by=assumed_by, may={**may, **(sometimes or {})}, always=frozenset(may))


ROLES: Mapping[str, Role] = {
    # AWS Batch asks for this policy where it does not start the nodes itself, and for no other role of ours
    # (https://docs.aws.amazon.com/batch/latest/userguide/service_IAM_role.html, read 2026-11).
    "How AWS Batch places jobs on the nodes of the cluster": Role(
        assumed_by="batch.amazonaws.com",
        may={},
        always=frozenset(),
        managed="service-role/AWSBatchServiceRole",
    ),
    "Reads which ECS cluster a compute environment has": _role(
        "lambda.amazonaws.com", {**_LOG, "batch:DescribeComputeEnvironments": ANY}
    ),
    "Nodes of the cluster: the ECS agent and Session Manager": _role(
        "ec2.amazonaws.com", _OF_NODES, sometimes=_LOG
    ),
    "What the training program may do": _role(
        "ecs-tasks.amazonaws.com",
        {},
        sometimes={
            **_USE_BUCKET,
            **_OWN_KEY,
        },
    ),
    "What AWS Batch does for the job: pull its image, write its logs": _role(
        "ecs-tasks.amazonaws.com", _LOG, sometimes=_PULL
    ),
    "Opens, drains and reports one Capacity Block; cannot buy": _role(
        "lambda.amazonaws.com", _OF_THE_LIFE_CYCLE, sometimes=_STATES_KEY | _OF_A_FLEET
    ),
    "Looks at one cluster; changes nothing": _role(
        "lambda.amazonaws.com",
        {
            **_LOG,
            "batch:DescribeComputeEnvironments": ANY,
            "batch:DescribeJobQueues": ANY,
            "batch:ListJobs": ANY,
            "cloudwatch:GetMetricData": ANY,
            "ec2:DescribeCapacityReservations": ANY,
            "ec2:DescribeInstances": ANY,
        },
    ),
    "Reads the metrics of one cluster; changes nothing": _role(
        "lambda.amazonaws.com",
        {
            **_LOG,
            "cloudwatch:GetMetricData": ANY,
            "cloudwatch:ListMetrics": ANY,
            "ec2:DescribeCapacityReservations": ANY,
            "sns:Publish": _TOPIC,
        },
        sometimes=_OWN_KEY,
    ),
    "Looks for a Capacity Block; cannot buy": _role(
        "lambda.amazonaws.com",
        {
            **_LOG,
            "cloudwatch:GetMetricData": ANY,
            "ec2:DescribeCapacityBlockOfferings": ANY,
            "sns:Publish": _TOPIC,
        },
        sometimes=_OWN_KEY,
    ),
    "Submits jobs of one cluster again": _role(
        "lambda.amazonaws.com",
        {
            **_LOG,
            "batch:DescribeComputeEnvironments": ANY,
            "batch:DescribeJobDefinitions": ANY,
            "batch:DescribeJobQueues": ANY,
            "batch:DescribeJobs": ANY,
            "batch:ListJobs": ANY,
            "batch:SubmitJob": rf"{_QUEUE}|arn:aws:batch:{_HERE}:job-definition/[A-Za-z0-9]+:1",
            "batch:TagResource": rf"arn:aws:batch:{_HERE}:job/\*",
            "dynamodb:PutItem": _STATES,
            "dynamodb:Scan": _STATES,
            "dynamodb:UpdateItem": _STATES,
        },
        sometimes={**_STATES_KEY, "sns:Publish": _TOPIC},  # a cluster may have nobody to notify
    ),
    "Closes job queues for new jobs when a budget is spent": _role(
        "lambda.amazonaws.com",
        {**_LOG, "batch:TagResource": _QUEUE, "batch:UpdateJobQueue": _QUEUE, "sns:Publish": _TOPIC},
        sometimes=_OWN_KEY,
    ),
    "Copies new objects to buckets of other Regions": _role(
        "s3.amazonaws.com",
        {
            "s3:GetObjectVersionAcl": _OBJECTS,
            "s3:GetObjectVersionForReplication": _OBJECTS,
            "s3:GetObjectVersionTagging": _OBJECTS,
            "s3:GetReplicationConfiguration": _BUCKET,
            "s3:ListBucket": _BUCKET,
            "s3:ReplicateObject": _OBJECTS,
            "s3:ReplicateTags": _OBJECTS,
        },
    ),
    "The instance that EC2 Image Builder makes an AMI from": _role(
        "ec2.amazonaws.com",
        {
            **{
                f"ec2messages:{name}": ANY
                for name in (
                    "AcknowledgeMessage",
                    "DeleteMessage",
                    "FailMessage",
                    "GetEndpoint",
                    "GetMessages",
                    "SendReply",
                )
            },
            **{
                f"ssm:{name}": ANY
                for name in ("DescribeDocument", "GetDocument", "ListAssociations", "PutInventory")
            },
            **{
                f"ssm:{name}": rf"{_INSTANCES}|arn:aws:ssm:{_HERE}:association/\*"
                for name in (
                    "ListInstanceAssociations",
                    "UpdateInstanceAssociationStatus",
                    "UpdateInstanceInformation",
                )
            },
            **_CHANNELS,
            **{
                f"logs:{name}": rf"arn:aws:logs:{_HERE}:log-group:/aws/imagebuilder/\*"
                for name in ("CreateLogGroup", "CreateLogStream", "PutLogEvents")
            },
            "imagebuilder:GetComponent": rf"arn:aws:imagebuilder:{_HERE}:component/\*",
            "s3:GetObject": r"arn:aws:s3:::ec2imagebuilder\*/\*",
        },
        sometimes=_PULL,
    ),
    "Finds and compares capacity; cannot buy": _role(
        ACCOUNT,
        {
            **_LOOK_FOR_CAPACITY,
            "ec2:DescribeInstanceTypeOfferings": ANY,
            "pricing:GetProducts": ANY,
            "servicequotas:GetAWSDefaultServiceQuota": ANY,
            "servicequotas:GetServiceQuota": ANY,
            "servicequotas:ListServiceQuotas": ANY,
            "ssm:GetParameter": _REHEARSALS,
        },
        sometimes=_READ_LEDGER,
    ),
    "Buys capacity by approved orders; apart from the roles that deploy and those of nodes": _role(
        ACCOUNT,
        {
            **_LOOK_FOR_CAPACITY,
            **_READ_LEDGER,
            **{f"dynamodb:{name}": _LEDGER for name in ("DeleteItem", "PutItem", "UpdateItem")},
            "ec2:CancelCapacityReservation": _RESERVATIONS,
            "ec2:CreateCapacityReservation": _RESERVATIONS,
            "ec2:CreateTags": rf"{_RESERVATIONS}|arn:aws:ec2:\*:{ACCOUNT}:capacity-block/\*",
            "ec2:PurchaseCapacityBlock": _RESERVATIONS,
            "ec2:PurchaseCapacityBlockExtension": _RESERVATIONS,
            "ssm:GetParameter": _REHEARSALS,
        },
    ),
    "Training jobs of SageMaker: their logs and metrics; data and images are granted to it": _role(
        "sagemaker.amazonaws.com",
        {
            "cloudwatch:PutMetricData": ANY,
            **{
                f"logs:{name}": rf"arn:aws:logs:{_HERE}:log-group:/aws/sagemaker/TrainingJobs(:\*)?"
                for name in ("CreateLogGroup", "CreateLogStream", "DescribeLogStreams", "PutLogEvents")
            },
        },
        sometimes={
            **_USE_BUCKET,
            **_PULL,
        },
    ),
    # A role of the user's own, to show what `SageMakerTrainingQueue.grant_submit` gives.
    SUBMITTERS: _role(
        ACCOUNT,
        {
            "batch:DescribeServiceJob": ANY,
            "batch:ListServiceJobs": ANY,
            "batch:SubmitServiceJob": rf"{_QUEUE}(/quota-share/\*)?",
            "iam:PassRole": rf"arn:aws:iam::{ACCOUNT}:role/SageMakerExecutionRole[A-Z0-9]+",
        },
    ),
}
