"""What each argument of a construct, and each default, makes of the template."""

from collections.abc import Iterator, Mapping
from typing import Any

import jmespath
import pytest
from tests.unit.ultracluster.every_construct import KEY, PATHS, TOPIC, TYPE, construct_paths, resources

pytestmark = pytest.mark.slow

DISK = "LaunchTemplateData.BlockDeviceMappings[0].Ebs"
METADATA = "LaunchTemplateData.MetadataOptions"
COMPUTE = "ComputeResources"
LUSTRE = "LustreConfiguration"
SSE = "BucketEncryption.ServerSideEncryptionConfiguration[0]"
RULE = "LifecycleConfiguration.Rules[0]"
MULTI = "NodeProperties.NodeRangeProperties[0].Container"
VARIABLES = "Environment.Variables"

# By the path of a construct: the property, as a path in jmespath, and its value; None if it is not set. What is called Full
# has every argument at another value than its default.
EXPECTED: Mapping[str, Mapping[str, Any]] = {
    # Network
    "Network/Vpc": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True, "EnableDnsSupport": True},
    "Network/Subnet": {"CidrBlock": "10.0.0.0/20", "AvailabilityZoneId": "use2-az3", "MapPublicIpOnLaunch": False},
    "Network/S3": {"VpcEndpointType": "Gateway", "length(RouteTableIds)": 1},
    "Network/Logs": {"VpcEndpointType": "Interface", "PrivateDnsEnabled": True, "length(SecurityGroupIds)": 1},
    "FullNetwork/Vpc": {"CidrBlock": "10.3.0.0/16"},
    "FullNetwork/Subnet": {"CidrBlock": "10.3.0.0/22"},
    "FullNetwork/Sts": {"VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-2.sts"},
    "FullNetwork/PublicSubnet": {"CidrBlock": "10.3.255.240/28", "MapPublicIpOnLaunch": False},
    "FullNetwork/PublicRoute": {"DestinationCidrBlock": "0.0.0.0/0"},
    "FullNetwork/NatRoute": {"DestinationCidrBlock": "0.0.0.0/0"},
    "FullNetwork/NatAddress": {"Domain": "vpc"},
    "FullNetwork/EfaIngress": {"IpProtocol": "-1"},
    "FullNetwork/EndpointsFromTasks": {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443},
    "TheirNetwork/EfaIngress": {"GroupId": "sg-01234567", "SourceSecurityGroupId": "sg-01234567", "IpProtocol": "-1"},
    "TheirNetwork/EfaEgress": {"GroupId": "sg-01234567", "DestinationSecurityGroupId": "sg-01234567", "IpProtocol": "-1"},
    "TheirNetwork/TasksIngress": {"GroupId": "sg-76543210", "SourceSecurityGroupId": "sg-76543210", "IpProtocol": "-1"},
    "TheirNetwork/TasksEgress": {"GroupId": "sg-76543210", "DestinationSecurityGroupId": "sg-76543210", "IpProtocol": "-1"},
    "TheirNetwork/TasksToAws": {
        "GroupId": "sg-76543210", "CidrIp": "0.0.0.0/0", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
    },
    # Nodes
    "Nodes/Resource": {
        f"{DISK}.VolumeSize": 200, f"{DISK}.VolumeType": "gp3", f"{DISK}.Iops": 3000, f"{DISK}.Throughput": 500,
        f"{DISK}.Encrypted": True, f"{DISK}.KmsKeyId": None, f"{DISK}.DeleteOnTermination": True,
        "LaunchTemplateData.BlockDeviceMappings[0].DeviceName": "/dev/xvda",
        f"{METADATA}.HttpTokens": "required", f"{METADATA}.HttpPutResponseHopLimit": 1, f"{METADATA}.HttpEndpoint": "enabled",
        "LaunchTemplateData.InstanceInitiatedShutdownBehavior": "terminate",
        "LaunchTemplateData.InstanceType": TYPE, "LaunchTemplateData.InstanceMarketOptions": None,
        "LaunchTemplateData.CapacityReservationSpecification": None, "LaunchTemplateData.IamInstanceProfile": None,
        "LaunchTemplateData.TagSpecifications[].ResourceType": ["instance", "volume", "network-interface"],
        "length(LaunchTemplateData.NetworkInterfaces)": 16,
        "LaunchTemplateData.NetworkInterfaces[0].InterfaceType": "efa",
        "LaunchTemplateData.NetworkInterfaces[1].InterfaceType": "efa-only",
        "LaunchTemplateData.NetworkInterfaces[1].DeviceIndex": 1,
        "LaunchTemplateData.NetworkInterfaces[?!DeleteOnTermination]": [],
    },
    "FullNodes/Resource": {
        f"{DISK}.VolumeSize": 500, f"{DISK}.KmsKeyId": KEY,
        "LaunchTemplateData.CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId":
            "cr-0123456789abcdef0",
        "LaunchTemplateData.TagSpecifications[0].Tags[?Key=='team'].Value": ["red"],
    },
    "SpotNodes/Resource": {
        "LaunchTemplateData.NetworkInterfaces[1].InterfaceType": "efa",
        "LaunchTemplateData.InstanceMarketOptions": None,  # AWS Batch asks for Spot
    },
    "JoinedCluster/Nodes/Resource": {
        "LaunchTemplateData.InstanceMarketOptions.MarketType": "capacity-block",
        "length(LaunchTemplateData.IamInstanceProfile)": 1,
    },
    "JoinedCluster/Fleet/Resource": {
        "MinSize": "0", "MaxSize": "2", "CapacityRebalance": False, "HealthCheckType": "EC2",
        "NewInstancesProtectedFromScaleIn": True,
    },
    "JoinedCluster/Environment/Resource": {
        "Type": "UNMANAGED", "State": "ENABLED", "UnmanagedvCpus": 384, "ReplaceComputeEnvironment": False,
    },
    "JoinedCluster/Environment/Function/Resource": {"Timeout": 60, "MemorySize": None},
    "Placement/Resource": {"Strategy": "cluster"},
    "Metrics/Logs/Resource": {"RetentionInDays": 90, "KmsKeyId": None},
    "FullMetrics/Logs/Resource": {"RetentionInDays": 7, "KmsKeyId": KEY},
    # Queues
    "Queue/ComputeEnvironment": {
        f"{COMPUTE}.Type": "EC2", f"{COMPUTE}.AllocationStrategy": "BEST_FIT_PROGRESSIVE", f"{COMPUTE}.MinvCpus": 0,
        f"{COMPUTE}.MaxvCpus": 768, f"{COMPUTE}.ScalingPolicy": None, f"{COMPUTE}.PlacementGroup": None,
        f"{COMPUTE}.BidPercentage": None, "State": "ENABLED", "Type": "MANAGED",
    },
    "FullQueue/ComputeEnvironment-reserved": {
        f"{COMPUTE}.MaxvCpus": 576, f"{COMPUTE}.PlacementGroup": "placed",
        f"{COMPUTE}.ScalingPolicy.MinScaleDownDelayMinutes": 1440,
    },
    "SpotQueue/ComputeEnvironment-cheap": {
        f"{COMPUTE}.Type": "SPOT", f"{COMPUTE}.AllocationStrategy": "SPOT_CAPACITY_OPTIMIZED",
        f"{COMPUTE}.BidPercentage": 60,
    },
    "Queue/Resource": {
        "Priority": 1, "JobQueueType": "ECS", "SchedulingPolicyArn": None, "ComputeEnvironmentOrder[0].Order": 1,
        "JobStateTimeLimitActions[].MaxTimeSeconds": [86400, 86400, 86400],
        "JobStateTimeLimitActions[0].[Action, State]": ["CANCEL", "RUNNABLE"],
    },
    "FullQueue/Resource": {"Priority": 7, "JobStateTimeLimitActions[].MaxTimeSeconds": [7200]},
    "Cluster/Queue-second/Resource": {"Priority": 9},
    "FullQueue/SchedulingPolicy": {
        "FairsharePolicy.ComputeReservation": 30, "FairsharePolicy.ShareDecaySeconds": 21600,
        "FairsharePolicy.ShareDistribution[].WeightFactor": [1, 0.25],
    },
    "Queue/Logs/Resource": {"RetentionInDays": 90, "KmsKeyId": None},
    "FullQueue/Logs/Resource": {"RetentionInDays": 30, "KmsKeyId": KEY},
    "SageMaker/ServiceEnvironment": {
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING", "State": "ENABLED", "CapacityLimits[0].MaxCapacity": 4,
    },
    "SageMaker/Resource": {"Priority": 1, "JobQueueType": "SAGEMAKER_TRAINING", "ServiceEnvironmentOrder[0].Order": 1},
    "SageMaker/SchedulingPolicy": {"QuotaSharePolicy.IdleResourceAssignmentStrategy": "FIFO"},
    "SageMaker/Shares/default": {
        "QuotaShareName": "default", "State": "ENABLED", "CapacityLimits[0].MaxCapacity": 4,
        "ResourceSharingConfiguration.Strategy": "RESERVE", "ResourceSharingConfiguration.BorrowLimit": None,
        "PreemptionConfiguration.InSharePreemption": "DISABLED",
    },
    "FullSageMaker/Shares/red": {
        "QuotaShareName": "red", "CapacityLimits[0].MaxCapacity": 3,
        "ResourceSharingConfiguration.Strategy": "LEND_AND_BORROW", "ResourceSharingConfiguration.BorrowLimit": 50,
        "PreemptionConfiguration.InSharePreemption": "ENABLED",
    },
    # Jobs
    "Single/Resource": {
        "Type": "container", "RetryStrategy.Attempts": 3, "Timeout": None, "SchedulingPriority": None, "Tags": None,
        "ContainerProperties.Environment[?Name=='UC_JOB'].Value": ["Single"],
        "ContainerProperties.Secrets": None, "ContainerProperties.InstanceType": None,
        "RetryStrategy.EvaluateOnExit": [
            {"Action": "RETRY", "OnStatusReason": "Host EC2*"}, {"Action": "EXIT", "OnReason": "*"},
        ],
        "ContainerProperties.MountPoints": [
            {"ContainerPath": "/run/ultracluster", "ReadOnly": True, "SourceVolume": "orders"}
        ],
        "ContainerProperties.Command": ["python3", "/run/ultracluster/launch", "torchrun", "train.py"],
    },
    "FullSingle/Resource": {
        "RetryStrategy.Attempts": 2, "Timeout.AttemptDurationSeconds": 10800, "SchedulingPriority": 0,
        "Tags": {"ultracluster:after": "Single", "ultracluster:array-size": "4"},
        "ContainerProperties.Environment[?Name=='SEED'].Value": ["3"],
        "ContainerProperties.Environment[?Name=='UC_PROCESSES_PER_NODE'].Value": ["16"],
        "ContainerProperties.Environment[?Name=='JAX_COMPILATION_CACHE_DIR'].Value": ["/fsx/compile-cache/jax"],
        "ContainerProperties.Secrets[].Name": ["TOKEN"],
        "ContainerProperties.MountPoints[].[ContainerPath, ReadOnly]": [
            ["/fsx", False], ["/run/ultracluster", True], ["/scratch", False],
        ],
    },
    "Multi/Resource": {
        "Type": "multinode", "NodeProperties.NumNodes": 4, "NodeProperties.MainNode": 0, "RetryStrategy.Attempts": 1,
        "NodeProperties.NodeRangeProperties[0].TargetNodes": "0:",
        f"{MULTI}.InstanceType": TYPE, f"{MULTI}.LinuxParameters.InitProcessEnabled": True,
        f"{MULTI}.LinuxParameters.SharedMemorySize": 49152,
        f"{MULTI}.Ulimits[].[Name, SoftLimit, HardLimit]": [
            ["memlock", -1, -1], ["stack", 67108864, 67108864], ["nofile", 1048576, 1048576],
        ],
        f"{MULTI}.LogConfiguration.LogDriver": "awslogs",
        f'{MULTI}.LogConfiguration.Options."awslogs-stream-prefix"': "Multi",
        f'{MULTI}.LogConfiguration.Options."awslogs-region"': "us-east-2",
        f"{MULTI}.Environment[?Name=='UC_PROCESSES_PER_NODE'].Value": ["64"],
    },
    "FullMulti/Resource": {
        "NodeProperties.NumNodes": 2, "RetryStrategy.Attempts": 3, "SchedulingPriority": 0,
        "RetryStrategy.EvaluateOnExit[1]": {"Action": "RETRY", "OnExitCode": "112"},
        f"{MULTI}.Command[2]": "jax", f"{MULTI}.Environment[?Name=='UC_DEVICES_PER_NODE'].Value": ["64"],
    },
    "Cluster/Pretrain/Resource": {'Tags."ultracluster:resume"': "2", "NodeProperties.NumNodes": 2},
    "JoinedCluster/Array/Resource": {
        "Type": "container", 'Tags."ultracluster:array-size"': "2",
        "ContainerProperties.Command[0:5]": ["python3", "/run/ultracluster/launch", "raw", "python3", "-c"],
        "ContainerProperties.Environment[?Name=='UC_GANG_PLACE'].Value": ["/fsx/.ultracluster/gangs"],
    },
    "Precompile/Resource": {
        "RetryStrategy.Attempts": 3,
        "ContainerProperties.Command[0:2]": ["neuron_parallel_compile", "python3"],
        "ContainerProperties.Environment[?Name=='NEURON_PARALLEL_COMPILE_MAX_RETRIES'].Value": ["1"],
    },
    "FullPrecompile/Resource": {
        "ContainerProperties.Command[0:3]": ["neuron_parallel_compile", "--command", "collect"],
        "ContainerProperties.Environment[?Name=='NEURON_PARALLEL_COMPILE_MAX_RETRIES'].Value": ["4"],
    },
    "Gate/Resource": {
        "NodeProperties.NumNodes": 4, "Timeout.AttemptDurationSeconds": 6300,
        f"{MULTI}.Command[6:]": ["efa=16", "ranks=64", "patience=900", "group=2"],
    },
    "FullGate/Resource": {
        "NodeProperties.NumNodes": 2, "Timeout.AttemptDurationSeconds": 1800,
        f"{MULTI}.Command[6:]": ["efa=16", "ranks=64", "patience=300", "group=2", "bandwidth=10.5", "latency=40"],
    },
    "Smoke/Resource": {
        "NodeProperties.NumNodes": 4, "Timeout.AttemptDurationSeconds": 1800,
        f"{MULTI}.Command[7:]": ["--device", "xla", "--steps", "5"],
    },
    "FullSmoke/Resource": {
        "NodeProperties.NumNodes": 2, "Timeout.AttemptDurationSeconds": 720,
        f"{MULTI}.Command[7:]": ["--device", "neuron", "--steps", "9"],
        f"{MULTI}.Environment[?Name=='UC_PROCESSES_PER_NODE'].Value": ["4"],
    },
    "Bake/one/Resource": {"NodeProperties.NumNodes": 2},
    "Bake/two/Resource": {"NodeProperties.NumNodes": 3},
    "Bake/oneFigures/loss": {
        "FilterPattern": '{ $.candidate = "Test/Bake/one" && $.loss = * }',
        "MetricTransformations[0].[MetricNamespace, MetricName, MetricValue]": ["UltraCluster/BakeOff", "loss", "$.loss"],
    },
    # Storage
    "FileSystem/Resource": {
        "FileSystemType": "LUSTRE", "FileSystemTypeVersion": "2.15", "StorageCapacity": 4800, "KmsKeyId": None,
        "StorageType": None, f"{LUSTRE}.DeploymentType": "PERSISTENT_2", f"{LUSTRE}.DataCompressionType": "LZ4",
        f"{LUSTRE}.PerUnitStorageThroughput": 250, f"{LUSTRE}.MetadataConfiguration": {"Mode": "AUTOMATIC"},
        f"{LUSTRE}.EfaEnabled": None, f"{LUSTRE}.AutomaticBackupRetentionDays": None, f"{LUSTRE}.CopyTagsToBackups": None,
        f"{LUSTRE}.DriveCacheType": None,
    },
    "FullFileSystem/Resource": {
        "StorageCapacity": 38400, "KmsKeyId": KEY, f"{LUSTRE}.DataCompressionType": "NONE",
        f"{LUSTRE}.PerUnitStorageThroughput": 500, f"{LUSTRE}.EfaEnabled": True,
        f"{LUSTRE}.MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000},
    },
    "FullFileSystem/Checkpoints": {
        "FileSystemPath": "/saved", "BatchImportMetaDataOnCreate": True,
        "S3.AutoExportPolicy.Events": ["NEW", "CHANGED"], "S3.AutoImportPolicy.Events": ["NEW", "CHANGED"],
    },
    "FullFileSystem/Association--data": {"FileSystemPath": "/data", "S3.AutoExportPolicy": None},
    "FullFileSystem/FromNodesIngressAll": {"IpProtocol": "-1", "FromPort": None},
    "FileSystem/FromNodesIngress988": {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988},
    "BackedUpFileSystem/Resource": {
        f"{LUSTRE}.AutomaticBackupRetentionDays": 5, f"{LUSTRE}.DailyAutomaticBackupStartTime": "03:30",
        f"{LUSTRE}.CopyTagsToBackups": True,
    },
    "TieredFileSystem/Resource": {
        "StorageType": "INTELLIGENT_TIERING", "StorageCapacity": None, f"{LUSTRE}.ThroughputCapacity": 4000,
        f"{LUSTRE}.DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 131072},
    },
    "ScratchFileSystem/Resource": {f"{LUSTRE}.DataReadCacheConfiguration": None, f"{LUSTRE}.DeploymentType": "SCRATCH_2", f"{LUSTRE}.MetadataConfiguration": None},
    "Checkpoints/Resource/Resource": {
        f"{RULE}.NoncurrentVersionExpiration.NoncurrentDays": 30, "VersioningConfiguration.Status": "Enabled",
        f"{RULE}.AbortIncompleteMultipartUpload.DaysAfterInitiation": 7, f"{RULE}.Id": "replaced-and-removed-versions",
        f"{SSE}.ServerSideEncryptionByDefault.SSEAlgorithm": "AES256", f"{SSE}.BucketKeyEnabled": None,
        "values(PublicAccessBlockConfiguration)": [True, True, True, True],
        "OwnershipControls.Rules[0].ObjectOwnership": "BucketOwnerEnforced",
    },
    "FullCheckpoints/Resource/Resource": {
        f"{RULE}.NoncurrentVersionExpiration.NoncurrentDays": 3, f"{SSE}.BucketKeyEnabled": True,
        f"{SSE}.ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY},
    },
    "Dataset/Resource/Resource": {
        f"{RULE}.NoncurrentVersionExpiration.NoncurrentDays": 90, "VersioningConfiguration.Status": "Enabled",
        f"{RULE}.AbortIncompleteMultipartUpload.DaysAfterInitiation": 7, f"{RULE}.Id": "training-data",
        f"{RULE}.Transitions": None,
    },
    "FullDataset/Resource/Resource": {
        f"{RULE}.NoncurrentVersionExpiration.NoncurrentDays": 4, f"{SSE}.BucketKeyEnabled": True,
        f"{RULE}.Transitions": [{"StorageClass": "STANDARD_IA", "TransitionInDays": 45}],
    },
    "Cache/Resource/Resource": {
        "VersioningConfiguration": None, "MetricsConfigurations": None, "ReplicationConfiguration": None,
        "length(LifecycleConfiguration.Rules)": 1, f"{RULE}.Id": "cache-entries", f"{RULE}.ExpirationInDays": None,
        f"{RULE}.AbortIncompleteMultipartUpload.DaysAfterInitiation": 1, f"{RULE}.NoncurrentVersionExpiration": None,
    },
    "FullCache/Resource/Resource": {
        "VersioningConfiguration.Status": "Enabled", f"{RULE}.ExpirationInDays": 60,
        f"{RULE}.NoncurrentVersionExpiration.NoncurrentDays": 7,
        "LifecycleConfiguration.Rules[1].[Id, Prefix, ExpirationInDays]": [
            "compiler-2.16", "neuron/neuronxcc-2.16.", 20,
        ],
        "MetricsConfigurations": [{"Id": "compile-cache", "Prefix": "neuron/"}],
        "ReplicationConfiguration.Rules[0].[Id, Priority, Filter.Prefix, DeleteMarkerReplication.Status]": [
            "copy-1", 1, "neuron/", "Disabled",
        ],
    },
    "VersionedCache/Resource/Resource": {"VersioningConfiguration.Status": "Enabled", f"{SSE}.BucketKeyEnabled": True},
    # Operations
    "Lifecycle/Function/Resource": {
        "Timeout": 120, "MemorySize": 256, "Handler": "ultracluster_runtime.lifecycle.handler.handler",
        f"{VARIABLES}.UC_CHECKPOINT_LEAD_SECONDS": "1200", f"{VARIABLES}.UC_MAX_REFUSALS": "3",
        f"{VARIABLES}.UC_AUTO_SCALING_GROUP": None,
    },
    "Lifecycle/State/Resource": {
        "BillingMode": "PAY_PER_REQUEST", "SSESpecification.SSEEnabled": False, "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": True, "TimeToLiveSpecification": None,
    },
    "Cluster/BlockLifecycle/Function/Resource": {
        f"{VARIABLES}.UC_CHECKPOINT_LEAD_SECONDS": "1500", f"{VARIABLES}.UC_MAX_REFUSALS": "5", f"{VARIABLES}.UC_TOPIC": TOPIC,
    },
    "Cluster/BlockLifecycle/State/Resource": {"SSESpecification.KMSMasterKeyId": KEY},
    "Cluster/BlockLifecycle/Alarm": {
        "EvaluationPeriods": 5, "TreatMissingData": "breaching", "Threshold": 1, "Period": 60, "Statistic": "Sum",
        "Namespace": "AWS/Lambda", "MetricName": "Errors", "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "AlarmActions": [TOPIC], "Dimensions[].Name": ["FunctionName"],
    },
    "Cluster/JobResume/Function/Resource": {"Timeout": 120, "MemorySize": 256, f"{VARIABLES}.UC_TOPIC": TOPIC},
    "Cluster/JobResume/State/Resource": {"TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True}},
    "Cluster/JobResume/Alarm": {"EvaluationPeriods": 5, "TreatMissingData": "breaching"},
    "Cluster/Watch/EveryMinute": {
        "ScheduleExpression": "rate(1 minute)", "State": "ENABLED", "EventPattern": None,
        "Targets[0].RetryPolicy": {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0},
    },
    "Cluster/JobResume/JobsEnded": {"ScheduleExpression": None, "State": "ENABLED"},
    "Watch/Function/Resource": {
        "Timeout": 50, "MemorySize": 256, f"{VARIABLES}.UC_CLUSTER": "llama",
        f"{VARIABLES}.UC_RESERVATIONS": "cr-0123456789abcdef0", f"{VARIABLES}.UC_WITHOUT_RESERVATION": "yes",
    },
    "Cluster/Watch/Function/Resource": {f"{VARIABLES}.UC_WITHOUT_RESERVATION": "no"},
    "Cluster/Watch/Function/EventInvokeConfig/Resource": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60},
    "Cluster/Alarms/Topic/Resource": {"KmsMasterKeyId": KEY},
    "Cluster/Alarms/Email1/Resource": {"Protocol": "email", "Endpoint": "jane@example.com"},
    "Budget/Resource": {
        "Budget.[BudgetType, TimeUnit, BudgetLimit.Amount, BudgetLimit.Unit]": ["COST", "MONTHLY", 1000, "USD"],
        "Budget.CostFilters": {"TagKeyValue": ["user:ultracluster:cluster$llama"], "Region": ["us-east-2"]},
        "Budget.CostTypes": {"IncludeCredit": False, "IncludeRefund": False},
        "NotificationsWithSubscribers[].Notification.[NotificationType, Threshold]": [
            ["ACTUAL", 50], ["ACTUAL", 80], ["ACTUAL", 100], ["FORECASTED", 100],
        ],
        "NotificationsWithSubscribers[0].Notification.[ComparisonOperator, ThresholdType]": ["GREATER_THAN", "PERCENTAGE"],
    },
    "FullBudget/Resource": {
        "Budget.BudgetLimit.Amount": 2500, "Budget.CostFilters.TagKeyValue": ["user:team$red"],
        "NotificationsWithSubscribers[].Notification.[NotificationType, Threshold]": [
            ["ACTUAL", 40], ["ACTUAL", 90], ["ACTUAL", 95], ["FORECASTED", 110],
        ],
        "NotificationsWithSubscribers[].Subscribers[1].[SubscriptionType, Address]": [["EMAIL", "jane@example.com"]] * 4,
    },
    "ClosingBudget/Resource": {
        "NotificationsWithSubscribers[].Notification.[NotificationType, Threshold]": [["ACTUAL", 100]],
    },
    "FullBudget/Notices/Resource": {"KmsMasterKeyId": KEY},
    "FullBudget/Closing/Resource": {"KmsMasterKeyId": KEY},
    "FullBudget/Function/Resource": {"Timeout": 60, f"{VARIABLES}.UC_CLOSED_TAG": "ultracluster:closed-by-budget"},
    "FullBudget/NotClosed": {"EvaluationPeriods": 1, "TreatMissingData": "notBreaching"},
    # Purchasing, keys and images
    "Ledger/Resource/Resource": {
        "BillingMode": "PAY_PER_REQUEST", "DeletionProtectionEnabled": True,
        "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": True,
        "KeySchema[].[AttributeName, KeyType]": [["pk", "HASH"], ["sk", "RANGE"]],
        "AttributeDefinitions[].AttributeType": ["S", "S"],
    },
    "FullLedger/Resource/Resource": {"SSESpecification.KMSMasterKeyId": KEY},
    "Guard/Key/Resource": {"EnableKeyRotation": True},
    "Guard/Topic/Resource": {"DisplayName": "Capacity guard"},
    "FullGuard/Topic/Resource": {"KmsMasterKeyId": KEY},
    "Key/Resource/Resource": {"EnableKeyRotation": True},
    "Images/Resource/Resource": {
        "ImageTagMutability": "IMMUTABLE", "ImageScanningConfiguration.ScanOnPush": True,
        "EncryptionConfiguration": {"EncryptionType": "KMS"}, 'contains(LifecyclePolicy.LifecyclePolicyText, `"countNumber\\":14"`)': True,
    },
    "FullImages/Resource/Resource": {
        "EncryptionConfiguration": {"EncryptionType": "KMS", "KmsKey": KEY},
    },
    "Pulled/Resource": {"EcrRepositoryPrefix": "ecr-public", "UpstreamRegistryUrl": "public.ecr.aws"},
    "FullPulled/Resource": {"EcrRepositoryPrefix": "neuron-images"},
    "Ami/Recipe": {
        "Version": "1.0.0", "BlockDeviceMappings[0].DeviceName": "/dev/xvda",
        "BlockDeviceMappings[0].Ebs": {"VolumeSize": 100, "VolumeType": "gp3", "Encrypted": True, "DeleteOnTermination": True},
        "AdditionalInstanceConfiguration.SystemsManagerAgent.UninstallAfterBuild": False,
    },
    "Ami/Component": {"Platform": "Linux", "SupportedOsVersions": ["Amazon Linux 2023"], "Version": "1.0.0"},
    "Ami/Infrastructure": {
        "Name": "nodes", "InstanceTypes": ["m6i.large"], "TerminateInstanceOnFailure": True, "SubnetId": None,
        "SecurityGroupIds": None, "InstanceMetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
    },
    "Ami/Distribution": {"Name": "nodes", "Distributions[].Region": ["us-east-2"]},
    "Ami/Resource": {
        "Name": "nodes", "Status": "ENABLED", "EnhancedImageMetadataEnabled": True,
        "ImageTestsConfiguration": {"ImageTestsEnabled": True, "TimeoutMinutes": 60},
    },
    "FullAmi/Recipe": {"BlockDeviceMappings[0].Ebs.VolumeSize": 250},
    "FullAmi/Infrastructure": {"InstanceTypes": ["c7i.xlarge"], "SubnetId": "subnet-01234567", "length(SecurityGroupIds)": 1},
    "FullAmi/Distribution": {"Distributions[].Region": ["us-east-2", "us-west-2"]},
    "FullAmi/SecurityGroup/Resource": {
        "SecurityGroupEgress[].[CidrIp, IpProtocol, FromPort, ToPort]": [["0.0.0.0/0", "tcp", 443, 443]],
    },
}  # fmt: skip

# What fires an alarm: the comparison, the threshold, periods, those that must be above it, and the period of the metric.
ALARMS = {
    "Idle": ("CoreUtilization", "Minimum", "LessThanThreshold", 7, 11, None),
    "Unused": ("UnusedNodes", "Minimum", "GreaterThanOrEqualToThreshold", 1, 11, None),
    "DrainComing": ("SecondsToDrain", "Minimum", "LessThanOrEqualToThreshold", 2700, 1, None),
    "JobWaits": ("WaitSeconds", "Maximum", "GreaterThanOrEqualToThreshold", 2100, 3, None),
    "QueueBlocked": ("BlockedJobs", "Maximum", "GreaterThanOrEqualToThreshold", 1, 5, None),
    "EnvironmentInvalid": ("InvalidEnvironments", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "NodeRefused": ("NodesRefused", "Maximum", "GreaterThanOrEqualToThreshold", 1, 1, None),
    "EfaMissing": ("EfaDevicesMissing", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "NeuronMissing": ("NeuronDevicesMissing", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "TcpFallback": ("TcpFallback", "Sum", "GreaterThanOrEqualToThreshold", 1, 5, 3),
    "Ecc": ("EccUncorrected", "Sum", "GreaterThanOrEqualToThreshold", 1, 1, None),
    "WatchSilent": ("RunningNodes", "SampleCount", "LessThanThreshold", 1, 5, None),
    "CollectiveShare": ("CollectiveShare", "Average", "GreaterThanOrEqualToThreshold", 0.45, 10, 8),
    "StepStalled": ("StepLateness", "Maximum", "GreaterThanOrEqualToThreshold", 6, 2, None),
    "FileSystemFull": ("FreeDataStorageCapacity", "Sum", "LessThanThreshold", 4800 * 2**30 * 0.12, 5, None),
}  # fmt: skip

_USE = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
_PUBLISH = ["kms:Decrypt", "kms:GenerateDataKey*"]
_CALLER = {"kms:CallerAccount": {"Ref": "AWS::AccountId"}}
# Who may use the key of a cluster: the principal, the actions and the conditions of equality.
KEY_USERS = {
    "Logs": ({"Service": "logs.us-east-2.amazonaws.com"}, _USE, None),
    "Volumes": ({"AWS": "*"}, _USE, _CALLER | {"kms:ViaService": "ec2.us-east-2.amazonaws.com"}),
    "GrantForVolumes": ({"AWS": "*"}, "kms:CreateGrant", _CALLER | {"kms:ViaService": "ec2.us-east-2.amazonaws.com"}),
    "JoinedBuckets": ({"AWS": "*"}, _USE, _CALLER | {"kms:ViaService": "s3.us-east-2.amazonaws.com"}),
    "Alarms": ({"Service": "cloudwatch.amazonaws.com"}, _PUBLISH, {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}),
    "Budgets": ({"Service": "budgets.amazonaws.com"}, _PUBLISH, {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}),
    "Events": ({"Service": "events.amazonaws.com"}, _PUBLISH, None),
}  # fmt: skip

# Operators and keys of the conditions of all policies: a misspelt one would match nothing, or anything.
CONDITIONS = {
    ("ArnEquals", "aws:SourceArn"), ("ArnLike", "aws:PrincipalArn"), ("ArnLike", "aws:SourceArn"), ("ArnLike", "ecs:cluster"),
    ("ArnLike", "kms:EncryptionContext:aws:logs:arn"), ("Bool", "aws:SecureTransport"),
    ("Bool", "kms:GrantIsForAWSResource"), ("ForAllValues:StringLike", "dynamodb:LeadingKeys"),
    ("ForAnyValue:StringEquals", "dynamodb:EnclosingOperation"), ("Null", "aws:RequestTag/uc:po"),
    ("Null", "aws:ResourceTag/uc:po"), ("Null", "dynamodb:LeadingKeys"), ("NumericLessThan", "s3:TlsVersion"),
    ("NumericLessThanEquals", "ec2:InstanceCount"), ("NumericLessThanEqualsIfExists", "ec2:InstanceCount"),
    ("StringEquals", "aws:PrincipalAccount"), ("StringEquals", "aws:ResourceAccount"),
    ("StringEquals", "aws:ResourceTag/ultracluster:capacity-reservation"), ("StringEquals", "aws:SourceAccount"),
    ("StringEquals", "cloudwatch:namespace"), ("StringEquals", "ec2:CreateAction"), ("StringEquals", "ec2:InstanceType"),
    ("StringEquals", "ecs:CreateAction"), ("StringEquals", "kms:CallerAccount"), ("StringEquals", "kms:ViaService"),
    ("StringEquals", "ssm:resourceTag/ultracluster:capacity-reservation"),
    ("StringEquals", "ssm:resourceTag/ultracluster:cluster"), ("StringEqualsIfExists", "ec2:InstanceType"),
    ("StringEqualsIfExists", "aws:ResourceTag/ultracluster:cluster"),
    ("StringLike", "ssm:resourceTag/ultracluster:capacity-reservation"), ("StringNotEquals", "ec2:Region"),
}  # fmt: skip

# What is deleted with its stack, or not, by the path of a construct whose removal policy is DESTROY, or the default.
REMOVED = {
    "FullCheckpoints/Resource/Resource", "FullDataset/Resource/Resource", "FullCache/Resource/Resource",
    "FullFileSystem/Resource", "FullFileSystem/SecurityGroup/Resource", "FullFileSystem/Checkpoints",
    "FullKey/Resource/Resource", "FullImages/Resource/Resource",
}  # fmt: skip
KEPT = {
    "Checkpoints/Resource/Resource", "Dataset/Resource/Resource", "Cache/Resource/Resource", "FileSystem/Resource",
    "FileSystem/SecurityGroup/Resource", "Cluster/FileSystem/Checkpoints", "Key/Resource/Resource", "Images/Resource/Resource",
    "Ledger/Resource/Resource", "Queue/Logs/Resource", "Metrics/Logs/Resource", "Lifecycle/State/Resource",
}  # fmt: skip


@pytest.mark.parametrize("path", EXPECTED)
def test_arguments_and_defaults_reach_the_properties(path: str) -> None:
    properties = resources()[path]["Properties"]

    assert {name: jmespath.search(name, properties) for name in EXPECTED[path]} == EXPECTED[path]


@pytest.mark.parametrize("alarm", ALARMS)
def test_alarms_fire_at_their_thresholds(alarm: str) -> None:
    properties = resources()[f"FullAlarms/{alarm}/Resource"]["Properties"]

    assert (
        properties["MetricName"],
        properties["Statistic"],
        properties["ComparisonOperator"],
        pytest.approx(properties["Threshold"]),
        properties["EvaluationPeriods"],
        properties.get("DatapointsToAlarm"),
    ) == ALARMS[alarm]
    assert properties["Period"] == 60
    assert properties["AlarmActions"] == properties["OKActions"] == [TOPIC]
    assert properties["TreatMissingData"] == ("breaching" if alarm == "WatchSilent" else "notBreaching")


def test_only_what_is_to_be_removed_is_deleted_with_its_stack() -> None:
    made = resources()

    assert {made[path]["DeletionPolicy"] for path in REMOVED} == {"Delete"}
    assert {made[path]["UpdateReplacePolicy"] for path in REMOVED} == {"Delete"}
    assert {made[path]["DeletionPolicy"] for path in KEPT} == {"Retain"}
    assert {made[path]["UpdateReplacePolicy"] for path in KEPT} == {"Retain"}
    assert {made[f"Network/{part}"]["DeletionPolicy"] for part in ("Vpc", "Subnet")} == {
        "RetainExceptOnCreate"
    }


def test_topics_take_messages_over_tls_only() -> None:
    policies = [
        each["Properties"] for each in resources().values() if each["Type"] == "AWS::SNS::TopicPolicy"
    ]
    topics = [path for path, each in resources().items() if each["Type"] == "AWS::SNS::Topic"]
    denied = [
        statement
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]

    assert len(denied) == len(topics) > 0


def test_functions_run_python_on_graviton_and_log_to_a_group_of_their_own() -> None:
    functions = [
        each["Properties"] for each in resources().values() if each["Type"] == "AWS::Lambda::Function"
    ]

    assert {(*each["Architectures"], each["Runtime"]) for each in functions} == {("arm64", "python3.13")}
    groups = {each["LoggingConfig"]["LogGroup"]["Ref"] for each in functions}
    assert len(groups) == len(functions) > 0


def test_a_cluster_key_is_used_by_the_services_of_a_cluster_for_this_account() -> None:
    statements = resources()["Key/Resource/Resource"]["Properties"]["KeyPolicy"]["Statement"]
    named = {each["Sid"]: each for each in statements if "Sid" in each}

    assert {
        sid: (each["Principal"], each["Action"], each.get("Condition", {}).get("StringEquals"))
        for sid, each in named.items()
    } == KEY_USERS
    assert {sid: sorted(each["Condition"]) for sid, each in named.items() if "Condition" in each} == {
        "Logs": ["ArnLike"],
        "Volumes": ["StringEquals"],
        "GrantForVolumes": ["Bool", "StringEquals"],
        "JoinedBuckets": ["ArnLike", "StringEquals"],
        "Alarms": ["StringEquals"],
        "Budgets": ["StringEquals"],
    }
    assert {each["Effect"] for each in statements} == {"Allow"}


def _conditions(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if "Effect" in value:
            for operator, keys in value.get("Condition", {}).items():
                yield from ((operator, key) for key in keys)
        for part in value.values():
            yield from _conditions(part)
    elif isinstance(value, list):
        for part in value:
            yield from _conditions(part)


def test_conditions_use_keys_that_exist() -> None:
    assert set(_conditions(dict(resources()))) == CONDITIONS


def test_cfn_lint_skips_only_rules_that_do_not_apply() -> None:
    skipped = {
        (each["Type"], *each["Metadata"]["cfn-lint"]["config"]["ignore_checks"])
        for each in resources().values()
        if "cfn-lint" in each.get("Metadata", {})
    }

    assert skipped >= {("AWS::Lambda::Function", "W3005"), ("AWS::EC2::LaunchTemplate", "E3628")}
    assert {rule for _, rule in skipped} == {"W3005", "E3628"}


def test_no_resource_moves_to_another_construct_id() -> None:
    """CloudFormation replaces a resource whose logical ID changes, and the logical ID is made of the construct IDs."""
    assert construct_paths() == PATHS.read_text("utf-8").splitlines()
