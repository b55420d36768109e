"""Reasons for deviations of our constructs from cdk-nag's AwsSolutions and Serverless packs, by construct, resource and rule."""

from collections.abc import Mapping
from typing import Final

from constructs import Construct

from ultracluster.images.neuron_ami import NeuronAmi
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.agent_policy import AgentPolicy
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.operations.block_lifecycle import BlockLifecycle
from ultracluster.operations.cluster_alarms import ClusterAlarms
from ultracluster.operations.cluster_budget import ClusterBudget
from ultracluster.operations.cluster_watch import ClusterWatch
from ultracluster.operations.job_resume import JobResume
from ultracluster.operations.notifications import Notifications
from ultracluster.operations.weekly_report import WeeklyReport
from ultracluster.purchasing.capacity_guard import CapacityGuard
from ultracluster.purchasing.capacity_roles import CapacityPurchaseRole, CapacitySearchRole
from ultracluster.purchasing.capacity_watch import CapacityWatch
from ultracluster.sagemaker.sagemaker_training_queue import SageMakerTrainingQueue
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.scheduling.unmanaged_environment import UnmanagedEnvironment
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.dataset_bucket import DatasetBucket

Acknowledgments = Mapping[str, Mapping[str, str]]
_Reasons = Mapping[str | frozenset[str], str]
WildcardAcknowledgments = Mapping[str, _Reasons]

_NO_RESOURCE = "These calls take no resource (Service Authorization Reference, read 2026-11)."
_REHEARSALS = "One parameter for each cluster that was rehearsed, under one path."
_READS = "These calls only read, and most of them take no resource (Service Authorization Reference, read 2026-11)."
_LOGIN = f"{_NO_RESOURCE} The token opens no repository that another statement does not."
_NEXT_MINUTE = "An invocation is obsolete after a minute: the next one reads the state again, and nothing has to be repeated."
_NEXT_REPORT = (
    "The next report counts from the start of the block, so that it has what one that failed lacked."
)
_STILL_TOLD = "The state remains visible at its source, and the next change is published again."

_BUCKET = {
    "Resource/Resource": {
        "AwsSolutions-S1": "Data events of CloudTrail say who read and wrote objects, where an account wants to know. Access logs "
        "need a second bucket for each of these, and AWS delivers them on best effort only."
    }
}
_RUNTIME = {
    "AwsSolutions-L1": "The runtime is fixed. A newer one comes with a release of ours, after the tests have run on it.",
    "Serverless-LambdaLatestVersion": "The runtime is fixed. A newer one comes with a release of ours, after the tests have "
    "run on it.",
    "Serverless-LambdaTracing": "The function makes a few calls one after the other and logs them; traces would cost and say no more.",
}
_EACH_MINUTE = {
    "Function/Resource": _RUNTIME | {"Serverless-LambdaDLQ": _NEXT_MINUTE},
    "Function/EventInvokeConfig/Resource": {"Serverless-LambdaAsyncFailureDestination": _NEXT_MINUTE},
    "EveryMinute": {"Serverless-EventBusDLQ": _NEXT_MINUTE},
    "Role/Resource": {"Serverless-LambdaStarPermissions": _READS},
}

ACKNOWLEDGMENTS: Final[Mapping[type[Construct], Acknowledgments]] = {
    CheckpointBucket: _BUCKET,
    CompileCache: _BUCKET,
    DatasetBucket: _BUCKET,
    ClusterNetwork: {
        "Vpc": {
            "AwsSolutions-VPC7": "Flow logs are billed by volume and kept by rules of the account; add an AWS::EC2::FlowLog to the VPC. "
            "Nothing outside reaches the nodes: their security group lets in only itself, and there is no public address."
        }
    },
    BlockLifecycle: _EACH_MINUTE | {"BlockEvents": {"Serverless-EventBusDLQ": _NEXT_MINUTE}},
    ClusterWatch: _EACH_MINUTE,
    CapacityWatch: {
        **{path: reasons for path, reasons in _EACH_MINUTE.items() if path != "EveryMinute"},
        "Schedule": {"Serverless-EventBusDLQ": _NEXT_MINUTE},
        "*/Resource": {"Serverless-SNSRedrivePolicy": _STILL_TOLD},
    },
    WeeklyReport: {
        "Function/Resource": _RUNTIME | {"Serverless-LambdaDLQ": _NEXT_REPORT},
        "Function/EventInvokeConfig/Resource": {"Serverless-LambdaAsyncFailureDestination": _NEXT_REPORT},
        "Weekly": {"Serverless-EventBusDLQ": _NEXT_REPORT},
        "Role/Resource": {"Serverless-LambdaStarPermissions": _READS},
    },
    JobResume: _EACH_MINUTE | {"JobsEnded": {"Serverless-EventBusDLQ": _NEXT_MINUTE}},
    ClusterBudget: {
        "Function/Resource": _RUNTIME
        | {
            "Serverless-LambdaDLQ": "The topic sends a message again when the function fails, and AWS Budgets notifies of the "
            "same threshold.",
            "Serverless-LambdaDefaultMemorySize": "It makes two calls for each queue, once a month at most.",
        },
        "Subscription": {"Serverless-SNSRedrivePolicy": "The other topic notifies of the same threshold."},
    },
    ClusterAlarms: {"*/Resource": {"Serverless-SNSRedrivePolicy": _STILL_TOLD}},
    Notifications: {"*/Resource": {"Serverless-SNSRedrivePolicy": _STILL_TOLD}},
    CapacityGuard: {
        "Topic/*/Resource": {
            "Serverless-SNSRedrivePolicy": "Every call that it tells of is in CloudTrail, too."
        },
        "Resource/Resource": {
            "Serverless-EventBusDLQ": "EventBridge tries for a day to reach the topic, and every call that it tells of is in "
            "CloudTrail, too."
        },
    },
    TrainingQueue: {"Blocked/Resource": {"Serverless-EventBusDLQ": _STILL_TOLD}},
    NodeFleet: {
        "Resource": {
            "AwsSolutions-AS3": "The life cycle of a block reads the nodes each minute and notifies of those that refuse to join. Auto "
            "Scaling keeps the activities of the group; add notifications to it to hear of each."
        }
    },
    UnmanagedEnvironment: {
        "ServiceRole/Resource": {
            "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBatchServiceRole]": "AWS Batch asks for "
            "this policy where it does not start the nodes itself, and widens it when it needs more."
        },
        "Function/Resource": _RUNTIME
        | {
            "Serverless-LambdaDLQ": "CloudFormation waits for its answer, and the deployment fails if none comes.",
            "Serverless-LambdaDefaultMemorySize": "It makes one call, when the environment is made or replaced.",
        },
        "Role/Resource": {"Serverless-LambdaStarPermissions": _READS},
    },
}
"""Reasons by construct, path of the resource below it (a star stands for the ID of a subscription), and rule."""

_POLICY = "DefaultPolicy/Resource"

# Statements of our grants have no Sid; they are identified by a superset of their actions.
_ITS_OBJECTS = "The objects of one bucket, below its prefix where it has one; no action is a wildcard, and nothing may be deleted."
_OBJECTS: _Reasons = {frozenset({"s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"}): _ITS_OBJECTS}
_TOKENS: _Reasons = {frozenset({"ecr:GetAuthorizationToken"}): _LOGIN}
_COPIES: _Reasons = {
    frozenset(
        {"s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionTagging"}
    ): "The objects of the bucket below the prefix of the cache, to copy them.",
    frozenset(
        {"s3:ReplicateObject", "s3:ReplicateTags"}
    ): "The objects of a bucket for copies below the prefix of the cache.",
}

_OF_THE_CLUSTER = (
    "The id of a container instance is made while it registers; the ECS cluster of the nodes is asked for."
)

WILDCARDS: Final[Mapping[type[Construct], WildcardAcknowledgments]] = {
    AgentPolicy: {
        "Resource": {
            "EcsAgent": "The star is an id that AWS Batch adds to the name of the compute environment, when it makes the ECS cluster.",
            "EcsAgentOfNode": _OF_THE_CLUSTER,
        }
    },
    NodeGroup: {
        "Role/Resource": {
            "EcsAgentOfNode": _OF_THE_CLUSTER,
            "TagAtRegistration": "The id of a container instance is made while it registers, which is when alone it may be tagged.",
            "SystemsManager": "The id of a node is not known before it is launched; a node sends its own heartbeat only.",
            "Connections": _NO_RESOURCE,
        }
    },
    ClusterJob: {
        f"Role/{_POLICY}": {**_OBJECTS},
        "ExecutionRole/Resource": {"Login": _LOGIN, "Log": "The streams of one log group."},
        f"ExecutionRole/{_POLICY}": {**_TOKENS},
    },
    BlockLifecycle: {
        "Role/Resource": {
            "Look": _READS,
            "FindNodesOfJobs": "AWS Batch names the ECS cluster of a compute environment only after it has made it; the call reads.",
            "EndJobs": "Ids of jobs are not known before they are submitted; the function ends those on nodes of its block only.",
            "OnNodesOfTheBlock": "Ids of nodes are not known before they are launched; the tag of the block's reservation is asked for.",
            "ReadReasonsOfNodes": "Ids of nodes are not known before they are launched; the tag of the block's reservation is asked for, and "
            "the call reads.",
            "OnNodesOfFormerBlocks": "Ids of nodes are not known before they are launched; the tag of the cluster is asked for.",
            "ReadGroup": _NO_RESOURCE,
            "SizeGroup": "The star is the id of one Auto Scaling group, whose name is given.",
        }
    },
    ClusterWatch: {"Role/Resource": {"Look": _READS}},
    CapacityWatch: {"Role/Resource": {"Look": _READS}},
    WeeklyReport: {"Role/Resource": {"Look": _READS}},
    UnmanagedEnvironment: {"Role/Resource": {"ReadCluster": _NO_RESOURCE}},
    JobResume: {
        "Role/Resource": {
            "Look": _READS,
            "TagJobs": "Ids of jobs are not known before they are submitted; the tags name the job that the new one continues.",
        }
    },
    CompileCache: {f"ReplicationRole/{_POLICY}": {**_COPIES}},
    CapacitySearchRole: {f"Resource/{_POLICY}": {"Look": _READS, "ReadRehearsals": _REHEARSALS}},
    CapacityPurchaseRole: {
        f"Resource/{_POLICY}": {
            "Look": _READS,
            "ReadRehearsals": _REHEARSALS,
            "Buy": "What is bought has no id before; type, number, Region and the tag of an order are asked for.",
            "Reserve": "What is reserved has no id before; type, number, Region and the tag of an order are asked for.",
            "ExtendOrGiveBack": "Only reservations with the tag of an order.",
            "TagWhatIsBought": "Only while it is bought.",
        }
    },
    SageMakerTrainingQueue: {
        f"ExecutionRole/{_POLICY}": {
            "Logs": "The log group is the one that SageMaker writes the logs of training jobs to; the star are its streams.",
            "Metrics": "The call takes no log group or job; the namespace of training jobs is asked for.",
            **_OBJECTS,
            **_TOKENS,
        }
    },
    NeuronAmi: {
        f"Role/{_POLICY}": {
            "Component": "Versions of components are not known before; the account is its own, and the call reads.",
            "Tools": "Buckets of EC2 Image Builder, which are AWS's own and another in each Region; the call reads.",
            "Logs": "The log groups that EC2 Image Builder names after recipes.",
            "RunCommand": f"{_READS} The others are the channels of the agent of Systems Manager.",
            "ManagedInstance": "The id of the instance is not known before it is launched; it reports on itself only.",
            "Login": _LOGIN,
        }
    },
}
"""Reasons for wildcards in resources, by construct, path of a role or policy below it, and Sid or actions of the statement."""
