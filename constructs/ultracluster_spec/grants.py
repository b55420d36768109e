"""What the actions of IAM policies grant, judged by what they cover: wildcards and letter case as IAM reads them."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

BUYING: Final = (
    "ec2:PurchaseCapacityBlock",
    "ec2:PurchaseCapacityBlockExtension",
    "ec2:PurchaseHostReservation",
    "ec2:PurchaseReservedInstancesOffering",
    "ec2:PurchaseScheduledInstances",
    "sagemaker:CreateTrainingPlan",
    "sagemaker:ExtendTrainingPlan",
    "savingsplans:CreateSavingsPlan",
)
"""Actions that commit to pay for capacity without a way to cancel."""

SPENDING: Final = (
    *BUYING,
    "ec2:AcceptCapacityReservationBillingOwnership",
    "ec2:AcceptReservedInstancesExchangeQuote",
    "ec2:AllocateHosts",
    "ec2:CancelCapacityReservation",
    "ec2:CancelCapacityReservationFleets",
    "ec2:CreateCapacityReservation",
    "ec2:CreateCapacityReservationBySplitting",
    "ec2:CreateCapacityReservationCancellationQuote",
    "ec2:CreateCapacityReservationFleet",
    "ec2:CreateInterruptibleCapacityReservationAllocation",
    "ec2:CreateReservedInstancesListing",
    "ec2:ModifyCapacityReservation",
    "ec2:ModifyCapacityReservationFleet",
    "ec2:ModifyReservedInstances",
    "ec2:MoveCapacityReservationInstances",
    "ec2:UpdateInterruptibleCapacityReservationAllocation",
    "sagemaker:CreateReservedCapacity",
)
"""Actions that buy, reserve, change or give back capacity: Service Authorization Reference (2026-11).

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
"""

NEVER: Final = (
    *("ec2:Accept*ReservationBillingOwnership", "ec2:AcceptReserved*", "ec2:AllocateHosts"),
    *(
        "ec2:CancelCapacityReservation*",
        "ec2:CreateCapacityReservation*",
        "ec2:CreateInterruptible*",
        "ec2:CreateReserved*",
    ),
    *(
        "ec2:ModifyCapacityReservation*",
        "ec2:ModifyReserved*",
        "ec2:MoveCapacityReservation*",
        "ec2:Purchase*",
    ),
    *(
        "ec2:UpdateInterruptible*",
        "sagemaker:CreateReservedCapacity",
        "sagemaker:CreateTrainingPlan",
        "sagemaker:ExtendTrainingPlan",
    ),
    "savingsplans:Create*",
    *("iam:A*", "iam:C*", "iam:D*", "iam:E*", "iam:Pu*", "iam:R*", "iam:Se*", "iam:T*", "iam:U*"),
)
"""What jobs, nodes and functions are denied whatever else is attached to their roles: spending on capacity, and all of IAM but
reading, simulating and ``iam:PassRole``. Wildcards also deny what AWS adds later."""

_SPENDS: Final = "buys capacity or changes permissions"
_ACTS: Final = "acts as another role"
_DELETES: Final = "deletes data"
_ENDS: Final = "ends nodes or jobs"
_STARTS: Final = "starts what is paid"
_RUNS: Final = "runs code elsewhere"

# Actions that act through others, destroy, end or start: allowed on what is named only, and a plan stops at them.
_POWERFUL: Final = MappingProxyType(
    {
        _ACTS: ("iam:PassRole", "sts:AssumeRole*", "sts:AssumeRoot"),
        _DELETES: (
            *(
                "s3:DeleteObject*",
                "s3:DeleteBucket*",
                "fsx:Delete*",
                "dynamodb:Delete*",
                "kms:ScheduleKeyDeletion",
            ),
            *(
                "logs:Delete*",
                "ecr:BatchDeleteImage",
                "ecr:Delete*",
                "elasticfilesystem:Delete*",
                "backup:Delete*",
                "rds:Delete*",
            ),
            *(
                "s3:PutLifecycleConfiguration",
                "s3:PutBucketPolicy",
                "secretsmanager:DeleteSecret",
                "ec2:Delete*",
            ),
        ),
        _ENDS: (
            *("ec2:TerminateInstances", "ec2:StopInstances", "ec2:RebootInstances", "batch:TerminateJob"),
            *("batch:CancelJob", "batch:Delete*", "batch:DeregisterJobDefinition", "batch:Update*"),
            *(
                "autoscaling:TerminateInstance*",
                "autoscaling:SetDesiredCapacity",
                "autoscaling:Update*",
                "autoscaling:Delete*",
            ),
            *("ecs:StopTask", "ecs:Delete*", "ecs:DeregisterContainerInstance", "cloudformation:Delete*"),
        ),
        _STARTS: (
            *("batch:SubmitJob", "batch:SubmitServiceJob", "batch:Create*", "batch:RegisterJobDefinition"),
            *("ec2:RunInstances", "ec2:StartInstances", "ec2:CreateFleet", "ec2:RequestSpot*"),
            *(
                "ec2:RunScheduledInstances",
                "autoscaling:Create*",
                "sagemaker:Create*",
                "ecs:RunTask",
                "ecs:StartTask",
            ),
            *("cloudformation:Create*", "cloudformation:Update*", "cloudformation:ExecuteChangeSet"),
        ),
        _RUNS: (
            *(
                "lambda:AddPermission",
                "lambda:CreateFunction",
                "lambda:InvokeFunction",
                "lambda:UpdateFunction*",
                "ssm:SendCommand",
                "ssm:StartSession",
            ),
            *("ssm:StartAutomationExecution", "ec2:ReplaceIamInstanceProfileAssociation", "ecr:PutImage"),
            *("ec2:AssociateIamInstanceProfile", "kms:PutKeyPolicy", "kms:CreateGrant", "sns:AddPermission"),
        ),
    }
)


POWERFUL_POLICIES: Final = MappingProxyType(
    {
        "AWSBatchFullAccess": (_SPENDS, _ENDS, _STARTS, _ACTS),
        "AWSCloudFormationFullAccess": (_ENDS, _STARTS),
        "AWSLambda_FullAccess": (_SPENDS, _RUNS, _ACTS),
        "AWSSavingsPlansFullAccess": (_SPENDS,),
        "AdministratorAccess": (_SPENDS, _ACTS, _DELETES, _ENDS, _RUNS, _STARTS),
        "AmazonBedrockFullAccess": (_ACTS, _STARTS),
        "AmazonDynamoDBFullAccess": (_SPENDS, _DELETES, _RUNS, _ACTS),
        "AmazonEC2ContainerRegistryFullAccess": (_SPENDS, _DELETES, _RUNS),
        "AmazonEC2ContainerRegistryPowerUser": (_RUNS,),
        "AmazonEC2FullAccess": (_SPENDS, _DELETES, _ENDS, _RUNS, _STARTS),
        "AmazonECS_FullAccess": (_SPENDS, _ACTS, _DELETES, _ENDS, _STARTS),
        "AmazonElasticFileSystemFullAccess": (_SPENDS, _DELETES, _ACTS),
        "AmazonFSxFullAccess": (_SPENDS, _DELETES),
        "AmazonS3FullAccess": (_DELETES,),
        "AmazonSNSFullAccess": (_RUNS,),
        "AmazonSSMFullAccess": (_SPENDS, _DELETES, _RUNS),
        "AmazonSageMakerFullAccess": (_SPENDS, _ACTS, _DELETES, _RUNS, _STARTS),
        "AmazonSageMakerTrainingPlanCreateAccess": (_SPENDS, _STARTS),
        "AutoScalingFullAccess": (_SPENDS, _ENDS, _STARTS),
        "CloudWatchLogsFullAccess": (_DELETES,),
        "DataScientist": (_SPENDS, _ACTS, _DELETES, _ENDS, _RUNS, _STARTS),
        "IAMFullAccess": (_SPENDS, _ACTS),
        "NetworkAdministrator": (_SPENDS, _ACTS, _DELETES),
        "PowerUserAccess": (_SPENDS, _ACTS, _DELETES, _ENDS, _RUNS, _STARTS),
        "SecretsManagerReadWrite": (_DELETES, _RUNS, _STARTS),
        "SystemAdministrator": (_SPENDS, _ACTS, _DELETES, _ENDS, _RUNS, _STARTS),
    }
)
"""What managed policies of AWS allow beyond the work of a program.

https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html (2026-11)
"""

HARMLESS_POLICIES: Final = re.compile(
    r"\w*(?:ReadOnly|ViewOnly)(?:Access)?|AmazonEC2ContainerRegistryPullOnly|AmazonECSTaskExecutionRolePolicy"
    r"|AmazonSSMManagedInstanceCore|AmazonSQSFullAccess|AWSX[Rr]ay\w*Write\w*Access|CloudWatchAgentServerPolicy"
)
"""Names of managed policies of AWS that allow nothing of the kind; the same source."""

# What has a wildcard in its name, or no name: everything, everything of a kind, or a role of any account.
_UNNAMED: Final = re.compile(
    r"\*|arn:[^:]*:s3:[^:]*:[^:]*:[*?].*|arn:[^:]*:(?!s3:)(?:[^:]*:){3}(?:[\w-]+[/:])?[*?].*"
)
_ACTS_ON: Final = re.compile(r"arn:[^:*?]+:[^:*?]*:[^:*?]*:[^:*?]*:[^*?]+")


def overlap(one: str, other: str) -> bool:
    """Return whether an action exists that both patterns may name: one covers the other, or they begin and end alike."""
    one, other = one.lower(), other.lower()
    if _covers(one, other) or _covers(other, one):
        return True
    if "*" not in one or "*" not in other:
        return False
    (start, *_, end), (other_start, *_, other_end) = one.split("*"), other.split("*")
    begins = start.startswith(other_start) or other_start.startswith(start)
    return begins and (end.endswith(other_end) or other_end.endswith(end))


def _covers(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def is_named(resource: str, power: str) -> bool:
    """Return whether a resource of a statement is a certain one; roles to act as are written out."""
    if "${" in resource:
        return True  # a reference that the CDK resolves
    return bool(_ACTS_ON.fullmatch(resource)) if power == _ACTS else not _UNNAMED.fullmatch(resource)


def forbidden(action: str) -> bool:
    """Return whether an action, perhaps with wildcards, spends on capacity or changes IAM."""
    named = any(_covers(action.lower(), name.lower()) for name in SPENDING)
    return named or any(overlap(action, never) for never in NEVER)


def powers(action: str) -> Iterator[str]:
    """Iterate over what an action, perhaps with wildcards, lets a principal do beyond its own work."""
    if forbidden(action):
        yield _SPENDS
    yield from (power for power, names in _POWERFUL.items() if any(overlap(action, name) for name in names))
