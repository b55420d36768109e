"""The resources of our quick start as one would write them without ultracluster: python by_hand.py FOLDER_OF_CODE.

With L2 constructs where there is one that can express the resource, else with the L1 class. Each run of the bench compares
the types and numbers of resources with those of the quick start.
"""

import sys
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

CODE = sys.argv[1]
CLUSTER, REGION, ZONE = "quickstart", "us-east-2", "use2-az3"
RESERVATION, IMAGE = "cr-0123456789abcdef0", "ami-0123456789abcdef0"
KEEP, KEEP_ONCE_MADE = cdk.RemovalPolicy.RETAIN, cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
MINUTE = cdk.Duration.minutes(1)
METRICS = "UltraCluster"
# Metric, comparison, threshold, minutes.
ALARMS = (
    ("CoreUtilization", "LessThanThreshold", 5, 15),
    ("UnusedNodes", "GreaterThanOrEqualToThreshold", 1, 15),
    ("SecondsToDrain", "LessThanOrEqualToThreshold", 7200, 1),
    ("CacheMisses", "GreaterThanOrEqualToThreshold", 10, 1),
    ("WaitSeconds", "GreaterThanOrEqualToThreshold", 3600, 3),
    ("BlockedJobs", "GreaterThanOrEqualToThreshold", 1, 5),
    ("InvalidEnvironments", "GreaterThanOrEqualToThreshold", 1, 2),
    ("NodesRefused", "GreaterThanOrEqualToThreshold", 1, 1),
    ("NodesReporting", "LessThanThreshold", 4, 5),
    ("EfaDevicesMissing", "GreaterThanOrEqualToThreshold", 1, 2),
    ("NeuronDevicesMissing", "GreaterThanOrEqualToThreshold", 1, 2),
    ("TcpFallback", "GreaterThanOrEqualToThreshold", 1, 5),
    ("NodeFaults", "GreaterThanThreshold", 0, 1),
    ("EccUncorrected", "GreaterThanOrEqualToThreshold", 1, 1),
    ("RunningNodes", "LessThanThreshold", 0, 5),
    ("CollectiveShare", "GreaterThanOrEqualToThreshold", 25, 10),
    ("StepLateness", "GreaterThanOrEqualToThreshold", 10, 2),
)
ENDPOINTS = [
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "logs",
    "monitoring",
    "ssm",
    "ssmmessages",
]
VARIABLES = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "FI_EFA_USE_DEVICE_RDMA": "1",
    "FI_PROVIDER": "efa",
    "MALLOC_ARENA_MAX": "128",
    "NEURON_CC_FLAGS": "--retry_failed_compilation",
    "NEURON_RT_EXEC_TIMEOUT": "600",
    "UC_CLUSTER": CLUSTER,
    "UC_JOB": "pretrain",
    "UC_PROCESSES_PER_NODE": "64",
}


def allow(actions: Sequence[str], *resources: str, **equals: str) -> iam.PolicyStatement:
    """Allow actions on resources, on all if there are none."""
    conditions = {"StringEquals": equals} if equals else None
    return iam.PolicyStatement(actions=actions, resources=list(resources) or ["*"], conditions=conditions)


def arn(service: str, resource: str) -> str:
    """Name resources of this account and Region."""
    return f"arn:{cdk.Aws.PARTITION}:{service}:{cdk.Aws.REGION}:{cdk.Aws.ACCOUNT_ID}:{resource}"


def log(group: logs.LogGroup) -> iam.PolicyStatement:
    """Allow to write to a log group."""
    return allow(["logs:CreateLogStream", "logs:PutLogEvents"], group.log_group_arn)


app = cdk.App()
stage = cdk.Stage(app, "by-hand", env=cdk.Environment(region=REGION))
network, storage, cluster = (cdk.Stack(stage, name) for name in ("Network", "Storage", "Cluster"))

# Network: one private subnet, EFA among the nodes, AWS services through endpoints.
vpc = ec2.CfnVPC(network, "Vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
subnet = ec2.CfnSubnet(network, "Subnet", vpc_id=vpc.ref, cidr_block="10.0.0.0/20", availability_zone_id=ZONE)
for resource in (vpc, subnet):
    resource.apply_removal_policy(KEEP_ONCE_MADE)
table = ec2.CfnRouteTable(network, "Routes", vpc_id=vpc.ref)
ec2.CfnSubnetRouteTableAssociation(network, "Route", route_table_id=table.ref, subnet_id=subnet.ref)


def security_group(stack: cdk.Stack, name: str, description: str) -> ec2.SecurityGroup:
    """Define a security group that lets nothing out."""
    own = ec2.Vpc.from_vpc_attributes(stack, f"{name}Vpc", vpc_id=vpc.ref, availability_zones=["zone"])
    return ec2.SecurityGroup(stack, name, vpc=own, description=description, allow_all_outbound=False)


nodes_group = security_group(network, "Nodes", "Nodes of the cluster")
nodes_group.add_ingress_rule(nodes_group, ec2.Port.all_traffic(), "EFA from the nodes")
nodes_group.add_egress_rule(nodes_group, ec2.Port.all_traffic(), "EFA to the nodes")
nodes_group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS services")
endpoints_group = security_group(network, "Endpoints", "Interface endpoints")
endpoints_group.add_ingress_rule(nodes_group, ec2.Port.tcp(443), "HTTPS from the nodes")
ec2.CfnSecurityGroupIngress(
    network,
    "FromTasks",
    group_id=endpoints_group.security_group_id,
    source_security_group_id=vpc.attr_default_security_group,
    ip_protocol="tcp",
    from_port=443,
    to_port=443,
)
own_account = {"StringEquals": {"aws:PrincipalAccount": cdk.Aws.ACCOUNT_ID}}
own_policy = iam.PolicyDocument(
    statements=[
        iam.PolicyStatement(
            actions=["*"], resources=["*"], principals=[iam.AnyPrincipal()], conditions=own_account
        )
    ]
)
ec2.CfnVPCEndpoint(
    network,
    "S3",
    vpc_id=vpc.ref,
    service_name=f"com.amazonaws.{REGION}.s3",
    route_table_ids=[table.ref],
    vpc_endpoint_type="Gateway",
    policy_document=own_policy,
)
for service in ENDPOINTS:
    ec2.CfnVPCEndpoint(
        network,
        f"To-{service}",
        vpc_id=vpc.ref,
        service_name=f"com.amazonaws.{REGION}.{service}",
        subnet_ids=[subnet.ref],
        security_group_ids=[endpoints_group.security_group_id],
        private_dns_enabled=True,
        vpc_endpoint_type="Interface",
        policy_document=own_policy,
    )

# Storage: Lustre, linked to a bucket of checkpoints, and a bucket of compiled graphs.
lustre_group = security_group(storage, "FileSystemGroup", "Lustre among itself and with the nodes")
lustre, nodes = lustre_group.security_group_id, nodes_group.security_group_id
for low, high in ((988, 988), (1018, 1023)):
    for name, source, destination in (
        ("Own", lustre, lustre),
        ("FromNodes", nodes, lustre),
        ("ToNodes", lustre, nodes),
    ):
        ec2.CfnSecurityGroupIngress(
            storage,
            f"{name}In{low}",
            group_id=destination,
            source_security_group_id=source,
            ip_protocol="tcp",
            from_port=low,
            to_port=high,
        )
        ec2.CfnSecurityGroupEgress(
            storage,
            f"{name}Out{low}",
            group_id=source,
            destination_security_group_id=destination,
            ip_protocol="tcp",
            from_port=low,
            to_port=high,
        )


def bucket(name: str, rule: s3.LifecycleRule, *, versioned: bool = False) -> s3.Bucket:
    """Define a private bucket that is kept."""
    return s3.Bucket(
        storage,
        name,
        versioned=versioned,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        removal_policy=KEEP,
        lifecycle_rules=[rule],
    )


days = cdk.Duration.days
compiled = bucket("Compiled", s3.LifecycleRule(abort_incomplete_multipart_upload_after=days(1)))
replaced = s3.LifecycleRule(
    abort_incomplete_multipart_upload_after=days(7), noncurrent_version_expiration=days(30)
)
checkpoints = bucket("Checkpoints", replaced, versioned=True)
file_system = fsx.CfnFileSystem(
    storage,
    "FileSystem",
    file_system_type="LUSTRE",
    file_system_type_version="2.15",
    storage_capacity=4800,
    subnet_ids=[subnet.ref],
    security_group_ids=[lustre],
    lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type="PERSISTENT_2",
        data_compression_type="LZ4",
        per_unit_storage_throughput=250,
        metadata_configuration=fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC"),
    ),
)
association = fsx.CfnDataRepositoryAssociation
link = association(
    storage,
    "Link",
    file_system_id=file_system.ref,
    file_system_path="/checkpoints",
    data_repository_path=f"s3://{checkpoints.bucket_name}",
    batch_import_meta_data_on_create=True,
    s3=association.S3Property(
        auto_export_policy=association.AutoExportPolicyProperty(events=["NEW", "CHANGED"]),
        auto_import_policy=association.AutoImportPolicyProperty(events=["NEW", "CHANGED"]),
    ),
)
for kept in (file_system, link):
    kept.apply_removal_policy(KEEP)


# Cluster: nodes in the Capacity Block, their queue, one job, and functions that look after them.
def log_group(name: str) -> logs.LogGroup:
    """Define a log group that is kept."""
    return logs.LogGroup(cluster, name, retention=logs.RetentionDays.THREE_MONTHS, removal_policy=KEEP)


def role(name: str, service: str, *statements: iam.PolicyStatement) -> iam.Role:
    """Define a role of a service."""
    policies = {"Policy": iam.PolicyDocument(statements=list(statements))} if statements else None
    principal = iam.ServicePrincipal(f"{service}.amazonaws.com")
    return iam.Role(cluster, name, assumed_by=principal, inline_policies=policies)


topic = sns.Topic(cluster, "Topic", enforce_ssl=True)
sns.CfnSubscription(cluster, "Email", topic_arn=topic.topic_arn, protocol="email", endpoint="you@example.com")
agent = (
    "Poll RegisterContainerInstance StartTelemetrySession SubmitAttachmentStateChanges "
    "SubmitContainerStateChange SubmitTaskStateChange UpdateContainerInstancesState"
)
channels = "CreateControlChannel CreateDataChannel OpenControlChannel OpenDataChannel"
nodes_role = role(
    "NodesRole",
    "ec2",
    allow(
        ["ecs:TagResource"],
        arn("ecs", "container-instance/*"),
        **{"ecs:CreateAction": "RegisterContainerInstance"},
    ),
    allow(["ssm:UpdateInstanceInformation"], arn("ec2", "instance/*"), arn("ssm", "managed-instance/*")),
    allow(["ecs:DiscoverPollEndpoint", *(f"ssmmessages:{action}" for action in channels.split())]),
)
nodes_role.add_to_policy(log(log_group("MetricsLogs")))
profile = iam.InstanceProfile(cluster, "Profile", role=nodes_role)
template = ec2.CfnLaunchTemplate
launch_template = template(
    cluster,
    "NodesTemplate",
    launch_template_data=template.LaunchTemplateDataProperty(
        image_id=IMAGE,
        instance_type="trn2.48xlarge",
        instance_initiated_shutdown_behavior="terminate",
        instance_market_options=template.InstanceMarketOptionsProperty(market_type="capacity-block"),
        capacity_reservation_specification=template.CapacityReservationSpecificationProperty(
            capacity_reservation_target=template.CapacityReservationTargetProperty(
                capacity_reservation_id=RESERVATION
            )
        ),
        metadata_options=template.MetadataOptionsProperty(http_tokens="required"),
        block_device_mappings=[
            template.BlockDeviceMappingProperty(
                device_name="/dev/xvda",
                ebs=template.EbsProperty(volume_size=200, volume_type="gp3", encrypted=True, throughput=500),
            )
        ],
        network_interfaces=[
            template.NetworkInterfaceProperty(
                network_card_index=card,
                device_index=min(card, 1),
                interface_type="efa-only" if card else "efa",
                groups=[nodes],
                delete_on_termination=True,
            )
            for card in range(16)
        ],
        user_data=cdk.Fn.base64(f"#!/bin/bash\nmount -t lustre {file_system.attr_dns_name}@tcp:/x /fsx\n"),
    ),
)
environment_of = batch.CfnComputeEnvironment
environment = environment_of(
    cluster,
    "Environment",
    type="MANAGED",
    state="ENABLED",
    replace_compute_environment=True,
    compute_resources=environment_of.ComputeResourcesProperty(
        type="EC2",
        allocation_strategy="BEST_FIT",
        instance_types=["trn2.48xlarge"],
        instance_role=profile.instance_profile_arn,
        minv_cpus=0,
        maxv_cpus=768,
        subnets=[subnet.ref],
        launch_template=environment_of.LaunchTemplateSpecificationProperty(
            launch_template_id=launch_template.ref, version=launch_template.attr_latest_version_number
        ),
        ec2_configuration=[
            environment_of.Ec2ConfigurationObjectProperty(image_type="ECS_AL2023", image_id_override=IMAGE)
        ],
        scaling_policy=environment_of.ComputeScalingPolicyProperty(min_scale_down_delay_minutes=1440),
    ),
)
# AWS Batch makes the ECS cluster of an environment, and names it after the environment.
own_cluster = cdk.Fn.select(1, cdk.Fn.split("/", environment.attr_compute_environment_arn))
iam.Policy(
    cluster,
    "AgentPolicy",
    roles=[nodes_role],
    statements=[
        allow(
            [f"ecs:{action}" for action in agent.split()],
            arn("ecs", f"cluster/AWSBatch-{own_cluster}-*"),
            arn("ecs", "container-instance/*"),
        )
    ],
)
first = batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
    compute_environment=environment.attr_compute_environment_arn, order=1
)
queue = batch.CfnJobQueue(cluster, "Queue", priority=1, compute_environment_order=[first])

job_logs = log_group("JobLogs")
job_role = role("JobRole", "ecs-tasks")
job_role.add_to_policy(allow(["s3:ListBucket"], compiled.bucket_arn, checkpoints.bucket_arn))
job_role.add_to_policy(allow(["s3:GetObject", "s3:PutObject"], compiled.arn_for_objects("neuron/*")))
job_role.add_to_policy(
    allow(["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], checkpoints.arn_for_objects("*"))
)
pull = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
execution_role = role(
    "ExecutionRole",
    "ecs-tasks",
    log(job_logs),
    allow(["ecr:GetAuthorizationToken"]),
    allow(pull, arn("ecr", "repository/training")),
)
job = batch.CfnJobDefinition
variables = VARIABLES | {"NEURON_COMPILE_CACHE_URL": f"s3://{compiled.bucket_name}/neuron"}
container = job.ContainerPropertiesProperty(
    image="123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
    instance_type="trn2.48xlarge",
    command=["torchrun", "train.py", "--config", "/fsx/pretrain.yaml"],
    environment=[job.EnvironmentProperty(name=name, value=value) for name, value in variables.items()],
    execution_role_arn=execution_role.role_arn,
    job_role_arn=job_role.role_arn,
    linux_parameters=job.LinuxParametersProperty(
        devices=[
            job.DeviceProperty(host_path=path, container_path=path, permissions=["READ", "WRITE", "MKNOD"])
            for path in (
                *(f"/dev/neuron{number}" for number in range(16)),
                *(f"/dev/infiniband/uverbs{number}" for number in range(16)),
            )
        ]
    ),
    log_configuration=job.LogConfigurationProperty(
        log_driver="awslogs", options={"awslogs-group": job_logs.log_group_name}
    ),
    mount_points=[job.MountPointsProperty(container_path="/fsx", source_volume="fsx")],
    volumes=[job.VolumesProperty(name="fsx", host=job.VolumesHostProperty(source_path="/fsx"))],
    resource_requirements=[
        job.ResourceRequirementProperty(type="VCPU", value="192"),
        job.ResourceRequirementProperty(type="MEMORY", value="2000000"),
    ],
    ulimits=[job.UlimitProperty(name="memlock", soft_limit=-1, hard_limit=-1)],
)
job(
    cluster,
    "Job",
    type="multinode",
    node_properties=job.NodePropertiesProperty(
        main_node=0,
        num_nodes=4,
        node_range_properties=[job.NodeRangePropertyProperty(target_nodes="0:", container=container)],
    ),
    retry_strategy=job.RetryStrategyProperty(
        attempts=3,
        evaluate_on_exit=[
            job.EvaluateOnExitProperty(action="RETRY", on_status_reason="Host EC2*"),
            job.EvaluateOnExitProperty(action="EXIT", on_reason="*"),
        ],
    ),
)

alarms: list[cloudwatch.CfnAlarm] = []
watched = [
    *((METRICS, *row, "Cluster", CLUSTER) for row in ALARMS),
    ("AWS/FSx", "FreeDataStorageCapacity", "LessThanThreshold", 10**11, 5, "FileSystemId", file_system.ref),
]
for namespace, metric, comparison, threshold, minutes, dimension, value in watched:
    alarms.append(
        cloudwatch.CfnAlarm(
            cluster,
            f"Alarm{metric}",
            namespace=namespace,
            metric_name=metric,
            dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name=dimension, value=value)],
            comparison_operator=comparison,
            threshold=threshold,
            evaluation_periods=minutes,
            period=60,
            statistic="Maximum",
            alarm_description=f"Cluster {CLUSTER}: look at {metric}",
            alarm_actions=[topic.topic_arn],
            ok_actions=[topic.topic_arn],
            treat_missing_data="notBreaching",
        )
    )
rules = [f'ALARM("{alarm.attr_arn}")' for alarm in alarms]
cloudwatch.CfnCompositeAlarm(cluster, "Anything", alarm_rule=" OR ".join(rules))


def function(name: str, seconds: int, *statements: iam.PolicyStatement) -> lambda_.Function:
    """Define a function that runs every minute."""
    group = log_group(f"{name}Logs")
    made = lambda_.Function(
        cluster,
        name,
        runtime=lambda_.Runtime.PYTHON_3_13,
        architecture=lambda_.Architecture.ARM_64,
        handler=f"ultracluster_runtime.{name.lower()}.handler.handler",
        code=lambda_.Code.from_asset(CODE, exclude=["**/__pycache__"]),
        role=role(f"{name}Role", "lambda", log(group), *statements),
        log_group=group,
        memory_size=256,
        timeout=cdk.Duration.seconds(seconds),
        retry_attempts=0,
        max_event_age=MINUTE,
        environment={"UC_CLUSTER": CLUSTER, "UC_JOB_QUEUES": queue.attr_job_queue_arn},
    )
    every_minute = events.Schedule.rate(MINUTE)
    events.Rule(cluster, f"{name}EveryMinute", schedule=every_minute, targets=[target(made)])
    return made


def target(of: lambda_.Function) -> targets.LambdaFunction:
    """Call a function once for each event."""
    return targets.LambdaFunction(of, retry_attempts=0, max_event_age=MINUTE)


def remembering(name: str, source: str, detail_type: str, *statements: iam.PolicyStatement) -> None:
    """Define a function with a table, which is also called by events, and an alarm if it fails."""
    state = dynamodb.CfnTable(
        cluster,
        f"{name}State",
        billing_mode="PAY_PER_REQUEST",
        attribute_definitions=[
            dynamodb.CfnTable.AttributeDefinitionProperty(attribute_name="id", attribute_type="S")
        ],
        key_schema=[dynamodb.CfnTable.KeySchemaProperty(attribute_name="id", key_type="HASH")],
    )
    state.apply_removal_policy(KEEP)
    remember = allow(["dynamodb:Scan", "dynamodb:UpdateItem"], state.attr_arn)
    notify = allow(["sns:Publish"], topic.topic_arn)
    made = function(name, 120, remember, notify, *statements)
    pattern = events.EventPattern(source=[source], detail_type=[detail_type])
    events.Rule(cluster, f"{name}Events", event_pattern=pattern, targets=[target(made)])
    cloudwatch.Alarm(
        cluster,
        f"{name}Fails",
        metric=made.metric_errors(period=MINUTE),
        threshold=1,
        evaluation_periods=5,
        treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
    ).add_alarm_action(actions.SnsAction(topic))


look = allow(
    [
        "batch:DescribeComputeEnvironments",
        "batch:DescribeJobQueues",
        "batch:ListJobs",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeInstances",
    ]
)
function("Watch", 50, look, allow(["cloudwatch:GetMetricData"]))
remembering(
    "Lifecycle",
    "aws.ec2",
    "Capacity Block Reservation Expiration Warning",
    look,
    allow(["batch:UpdateComputeEnvironment"], environment.attr_compute_environment_arn),
    allow(["batch:UpdateJobQueue"], queue.attr_job_queue_arn),
    allow(["batch:TerminateJob"], arn("batch", "job/*")),
    allow(["ssm:SendCommand"], arn("ec2", "instance/*"), **{"ssm:resourceTag/cluster": CLUSTER}),
)
remembering(
    "Resume",
    "aws.batch",
    "Batch Job State Change",
    look,
    allow(["batch:SubmitJob", "batch:TagResource"], arn("batch", "job/*"), queue.attr_job_queue_arn),
)
untagged = ["AWS::Batch::ComputeEnvironment"]  # its tags can only be set at creation
cdk.Tags.of(stage).add("cluster", CLUSTER, exclude_resource_types=untagged)
app.synth()
