"""Apps as CDK engineers write them, each a function that defines its stacks and returns texts that their templates contain.

Each ignore for pyright is a class of the CDK that pyright does not accept as the CDK's own interface
(https://github.com/aws/jsii/issues/4541).
"""

import dataclasses
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Unpack

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_codecommit as codecommit
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_ssm as ssm
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from aws_cdk import pipelines
from constructs import Construct, IConstruct

import ultracluster as uc

OHIO = cdk.Environment(account="123456789012", region="us-east-2")
AMI, ZONE, TYPE = "ami-0123456789abcdef0", "use2-az3", "trn2.48xlarge"
IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:v1"
BLOCK = uc.CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id=ZONE)
JOB = uc.Job(image=IMAGE, command=("train.py",))

# A team's defaults, which each app completes.
cluster = partial(
    uc.UltraCluster, instance_type=TYPE, node_count=4, image_id=AMI, capacity=BLOCK, notify="a@example.com"
)


def stack(scope: Construct, name: str = "Training") -> cdk.Stack:
    return cdk.Stack(scope, name, env=OHIO)


def existing_vpc_by_lookup(app: cdk.App) -> list[str]:
    here = stack(app)
    vpc = ec2.Vpc.from_lookup(here, "Vpc", vpc_id="vpc-0123456789abcdef0")
    cluster(here, "Cluster", network=vpc, vpc_subnets=ec2.SubnetSelection(availability_zones=["us-east-2c"]))
    return ["AWS::Batch::JobQueue"]


def existing_vpc_by_attributes(app: cdk.App) -> list[str]:
    here = stack(app)
    vpc = ec2.Vpc.from_vpc_attributes(
        here,
        "Vpc",
        vpc_id=cdk.Fn.import_value("VpcId"),
        availability_zones=["us-east-2c"],
        private_subnet_ids=[cdk.Fn.import_value("SubnetId")],
        private_subnet_route_table_ids=[cdk.Fn.import_value("RouteTableId")],
    )
    cluster(here, "Cluster", network=vpc)
    return ['"Fn::ImportValue": "SubnetId"']


def two_clusters_in_a_stack(app: cdk.App) -> list[str]:
    here = stack(app)
    cluster(here, "Pretrain")
    cluster(here, "Tune", capacity=uc.OnDemand(zone_id=ZONE), cluster_name="tune", file_system="none")
    return ["Training", '"tune"']


def nested_stacks(app: cdk.App) -> list[str]:
    here = stack(app)
    nested = cdk.NestedStack(here, "Nested")
    made = cluster(nested, "Cluster")
    cdk.CfnOutput(here, "Queue", value=made.queue.job_queue_arn)
    return ["AWS::CloudFormation::Stack", "AWS::Batch::JobQueue"]


class Platform(cdk.Stage):
    def __init__(
        self, scope: Construct, construct_id: str, *, nodes: int, capacity: uc.Capacity = BLOCK
    ) -> None:
        super().__init__(scope, construct_id, env=OHIO)
        cluster(cdk.Stack(self, "Training"), "Cluster", node_count=nodes, capacity=capacity)


def pipeline(app: cdk.App) -> list[str]:
    here = stack(app, "Pipeline")
    repository = codecommit.Repository.from_repository_name(here, "Source", "infrastructure")
    source = pipelines.CodePipelineSource.code_commit(repository, "main")
    line = pipelines.CodePipeline(
        here, "Line", synth=pipelines.ShellStep("Synth", input=source, commands=["npx cdk synth"])
    )
    line.add_stage(Platform(app, "Production", nodes=4), pre=[pipelines.ManualApprovalStep("Ask")])
    return ["AWS::CodePipeline::Pipeline", "AWS::Batch::JobQueue"]


@jsii.implements(cdk.IAspect)
class LongerLogs:
    def visit(self, node: IConstruct) -> None:
        if isinstance(node, logs.CfnLogGroup):
            node.retention_in_days = 365


def aspects_and_tags(app: cdk.App) -> list[str]:
    cluster(stack(app), "Cluster", tags={"team": "red"})
    cdk.Aspects.of(app).add(LongerLogs())
    cdk.Tags.of(app).add("cost-center", "1234")
    return ['"RetentionInDays": 365', '"Key": "cost-center"', '"cost-center": "1234"']


def permissions_boundary(app: cdk.App) -> list[str]:
    here = cdk.Stack(
        app, "Training", env=OHIO, permissions_boundary=cdk.PermissionsBoundary.from_name("Developers")
    )
    cluster(here, "Cluster").add_multi_node_job("Pretrain", JOB, timeout=cdk.Duration.days(2))
    iam.PermissionsBoundary.of(here).apply(
        iam.ManagedPolicy.from_managed_policy_name(here, "Boundary", "Developers")
    )
    return ['"PermissionsBoundary"']


def custom_synthesizer(app: cdk.App) -> list[str]:
    made = cdk.DefaultStackSynthesizer(qualifier="acme", file_assets_bucket_name="acme-assets-${AWS::Region}")
    cluster(cdk.Stack(app, "Training", env=OHIO, synthesizer=made), "Cluster")
    return ["acme-assets-us-east-2"]


def own_roles(app: cdk.App) -> list[str]:
    here = stack(app)
    ecs_tasks = iam.ServicePrincipal("ecs-tasks.amazonaws.com")
    job_role = iam.Role(here, "JobRole", assumed_by=ecs_tasks, role_name="trainer")  # pyright: ignore[reportArgumentType]
    execution = iam.Role.from_role_arn(
        here, "Execution", "arn:aws:iam::123456789012:role/execution", mutable=False
    )
    nodes = iam.Role(here, "NodeRole", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))  # pyright: ignore[reportArgumentType]
    made = cluster(here, "Cluster", role=nodes)  # pyright: ignore[reportArgumentType]
    made.add_multi_node_job("Pretrain", JOB, job_role=job_role, execution_role=execution)  # pyright: ignore[reportArgumentType]
    return ['"RoleName": "trainer"', "role/execution", "NodeRole"]


def own_topic_and_addresses(app: cdk.App) -> list[str]:
    here = stack(app)
    topic = sns.Topic.from_topic_arn(here, "Topic", "arn:aws:sns:us-east-2:123456789012:operators")
    topic.add_subscription(subscriptions.EmailSubscription("b@example.com"))  # pyright: ignore[reportArgumentType]
    cluster(here, "Cluster", notify=[topic, "a@example.com"])
    return ["operators", "a@example.com", "b@example.com"]


def own_buckets(app: cdk.App) -> list[str]:
    here = stack(app)
    data = s3.Bucket(here, "Data", encryption=s3.BucketEncryption.S3_MANAGED, enforce_ssl=True)
    cache = s3.Bucket.from_bucket_name(here, "Cache", "neff-cache")
    made = cluster(here, "Cluster", checkpoint_bucket=data, compile_cache=cache)
    job = made.add_multi_node_job("Pretrain", JOB)
    data.grant_read(job)
    return ["neff-cache", "NEURON_COMPILE_CACHE_URL"]


def parts_with_an_own_log_group(app: cdk.App) -> list[str]:
    here = stack(app)
    network = uc.ClusterNetwork(here, "Network", zone_id=ZONE, instance_type=TYPE, node_count=2)
    nodes = uc.NodeGroup(here, "Nodes", network=network, instance_type=TYPE, image_id=AMI, capacity=BLOCK)
    log_group = logs.LogGroup(
        here, "Logs", log_group_name="/acme/jobs", retention=logs.RetentionDays.ONE_YEAR
    )
    queue = uc.TrainingQueue(here, "Queue", nodes=nodes, max_nodes=2, log_group=log_group)
    uc.BlockLifecycle(here, "Lifecycle", block=BLOCK, queue=queue)
    uc.MultiNodeJob(here, "Pretrain", JOB, queue=queue)
    return ["/acme/jobs", "AWS::Batch::JobDefinition"]


def images_of_the_cdk(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    repository = ecr.Repository(here, "Images", image_tag_mutability=ecr.TagMutability.IMMUTABLE)
    folder = str(Path(__file__).parent)
    built = ecr_assets.DockerImageAsset(here, "Image", directory=folder, file="package.json")
    job = uc.Job(command=("train.py",))
    made.add_multi_node_job("A", job, image=ecs.ContainerImage.from_ecr_repository(repository, "v2"))
    made.add_multi_node_job("B", job, image=built)
    made.add_single_node_job("C", job, image=ecs.ContainerImage.from_asset(folder, file="package.json"))
    return [":v2", "cdk-hnb659fds-container-assets"]


def imported_file_system(app: cdk.App) -> list[str]:
    here = stack(app)
    vpc = ec2.Vpc.from_vpc_attributes(here, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-2c"])
    group = ec2.SecurityGroup.from_security_group_id(here, "Lustre", "sg-0123456789abcdef0")
    subnet = ec2.Subnet.from_subnet_id(here, "Subnet", "subnet-0123456789abcdef0")
    network = uc.ClusterNetwork.from_subnet(
        here, "Network", vpc=vpc, subnet=subnet, zone_id=ZONE, instance_type=TYPE, node_count=4
    )
    file_system = uc.SharedFileSystem.from_attributes(
        here,
        "FileSystem",
        network=network,
        file_system_id="fs-0123456789abcdef0",
        mount_name="abcdefgh",
        zone_id=ZONE,
        security_group=group,
    )
    cluster(here, "Cluster", network=network, file_system=file_system)
    return ["fs-0123456789abcdef0"]


def lustre_of_the_cdk(app: cdk.App) -> list[str]:
    here = stack(app)
    vpc = ec2.Vpc(here, "Vpc", availability_zones=["us-east-2c"], restrict_default_security_group=False)
    lustre = fsx.LustreFileSystem(
        here,
        "Lustre",
        vpc=vpc,
        vpc_subnet=vpc.private_subnets[0],
        storage_capacity_gib=4800,
        lustre_configuration=fsx.LustreConfiguration(
            deployment_type=fsx.LustreDeploymentType.PERSISTENT_2, per_unit_storage_throughput=250
        ),
        file_system_type_version=fsx.FileSystemTypeVersion.V_2_15,
        removal_policy=cdk.RemovalPolicy.RETAIN,
    )
    cluster(here, "Cluster", network=vpc, file_system=lustre)
    return ["PERSISTENT_2"]


def parameters(app: cdk.App) -> list[str]:
    here = stack(app)
    image = cdk.CfnParameter(here, "ImageId", type="AWS::EC2::Image::Id")
    reservation = cdk.CfnParameter(here, "Reservation")
    address = cdk.CfnParameter(here, "Topic")
    uc.UltraCluster(
        here,
        "Cluster",
        instance_type=TYPE,
        node_count=4,
        image_id=image.value_as_string,
        capacity=uc.CapacityBlock(reservation_id=reservation.value_as_string, zone_id=ZONE),
        notify=address.value_as_string,
    )
    return ['"Ref": "ImageId"', '"Ref": "Reservation"', '"Ref": "Topic"']


def escape_hatches(app: cdk.App) -> list[str]:
    made = cluster(stack(app), "Cluster")
    job = made.add_multi_node_job("Pretrain", JOB)
    for construct in (made.queue, made.nodes, job):
        assert isinstance(construct.node.default_child, cdk.CfnResource)
    queue = made.queue.node.default_child
    assert isinstance(queue, batch.CfnJobQueue)
    queue.priority = 7
    template = made.nodes.node.default_child
    assert isinstance(template, ec2.CfnLaunchTemplate)
    template.add_property_override("LaunchTemplateData.Monitoring.Enabled", value=True)
    lustre = made.file_system and made.file_system.node.default_child
    assert isinstance(lustre, fsx.CfnFileSystem)
    lustre.add_property_override("LustreConfiguration.WeeklyMaintenanceStartTime", "7:03:00")
    lustre.override_logical_id("Lustre")
    return ['"Priority": 7', '"Monitoring": {"Enabled": true}', "7:03:00", '"Lustre": {"Type"']


def nightly_rule(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    job = made.add_multi_node_job("Pretrain", JOB)
    rule = events.Rule(here, "Nightly", schedule=events.Schedule.cron(hour="1", minute="0"))
    rule.add_target(
        targets.BatchJob(made.queue.job_queue_arn, made.queue, job.job_definition_arn, job, attempts=2)  # pyright: ignore[reportArgumentType]
    )
    made.queue.on_blocked("Blocked", target=targets.SnsTopic(sns.Topic(here, "Topic")))  # pyright: ignore[reportArgumentType]
    return ["BatchParameters", "Batch Job Queue Blocked"]


def state_machine(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    job = made.add_single_node_job("Evaluate", JOB)
    task = tasks.BatchSubmitJob(
        here,
        "Train",
        job_name="train",
        job_queue_arn=made.queue.job_queue_arn,
        job_definition_arn=job.job_definition_arn,
        container_overrides=tasks.BatchContainerOverrides(environment={"STEPS": "100"}),
    )
    sfn.StateMachine(here, "Machine", definition_body=sfn.DefinitionBody.from_chainable(task))
    return ["batch:submitJob.sync"]


def grants(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    job = made.add_multi_node_job("Pretrain", JOB)
    function = lambda_.Function(
        here,
        "Submit",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): ..."),
        environment={"QUEUE": made.queue.job_queue_arn, "JOB": job.job_definition_arn},
    )
    made.grant_submit(function).assert_success()
    made.grant_read(iam.Group(here, "Researchers"))
    job.grant_submit(iam.User(here, "Robot"))
    secret = secretsmanager.Secret.from_secret_name_v2(here, "Secret", "wandb")
    secret.grant_read(job)
    return ["batch:SubmitJob", "Researchers", "secret:wandb"]


def alarms_on_metrics(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    topic = sns.Topic(here, "Pager")
    metrics: list[cloudwatch.Metric] = [
        made.metric_core_utilization(period=cdk.Duration.minutes(5), statistic="p10"),
        made.queue.metric_jobs_moved_to_failed(statistic=cloudwatch.Stats.SUM),
        made.metric_unused_nodes(color=cloudwatch.Color.RED),
    ]
    if made.file_system:
        metrics.append(made.file_system.metric_free_data_storage_capacity(label="free"))
    for number, metric in enumerate(metrics):
        alarm = metric.create_alarm(here, f"Alarm{number}", threshold=1, evaluation_periods=3)
        alarm.add_alarm_action(actions.SnsAction(topic))  # pyright: ignore[reportArgumentType]
    if made.alarms:
        made.alarms.composite.add_alarm_action(actions.SnsAction(topic))  # pyright: ignore[reportArgumentType]
    return ['"ExtendedStatistic": "p10"', "Pager"]


def enums_of_the_cdk(app: cdk.App) -> list[str]:
    here = stack(app)
    cluster(
        here,
        "Cluster",
        instance_type=ec2.InstanceType("trn1.32xlarge"),
        capacity=uc.OnDemand(zone_id=ZONE),
        placement=ec2.PlacementGroup(here, "Group", strategy=ec2.PlacementGroupStrategy.CLUSTER),
    )
    return ["trn1.32xlarge", "AWS::EC2::PlacementGroup"]


def removal_policies(app: cdk.App) -> list[str]:
    here = stack(app)
    cluster(here, "Cluster", removal_policy=cdk.RemovalPolicy.DESTROY)
    cdk.RemovalPolicies.of(here).destroy()
    return ['"DeletionPolicy": "Delete"']


def a_cluster_of_another_app(app: cdk.App) -> list[str]:
    here = stack(app)
    queue: uc.ITrainingQueue = uc.TrainingQueue.from_training_queue_attributes(
        here,
        "Queue",
        job_queue_arn=cdk.Fn.import_value("QueueArn"),
        instance_type=TYPE,
        max_nodes=4,
        log_group=logs.LogGroup.from_log_group_name(
            here, "Logs", ssm.StringParameter.value_for_string_parameter(here, "/logs")
        ),
    )
    bucket = s3.Bucket.from_bucket_arn(here, "Bucket", cdk.Fn.import_value("BucketArn"))
    imported: uc.IUltraCluster = uc.UltraCluster.from_ultra_cluster_attributes(
        here,
        "Cluster",
        cluster_name="pretrain",
        queue=queue,
        checkpoint_bucket=bucket,
        compile_cache=uc.CompileCache.from_bucket(here, "Graphs", bucket, prefix="neff"),
    )
    job = imported.add_multi_node_job("Pretrain", JOB)
    researcher = iam.Role.from_role_name(here, "Researcher", "researcher")
    for grant in (imported.grant_submit, imported.grant_read, queue.grant_submit, job.grant_submit):
        grant(researcher).assert_success()
    metrics: list[cloudwatch.Metric] = [
        imported.metric_tokens_per_second(),
        queue.metric_jobs_moved_to_failed(statistic="Sum"),
    ]
    for number, metric in enumerate(metrics):
        metric.create_alarm(here, f"Alarm{number}", threshold=1, evaluation_periods=1)
    return ["QueueArn", "AWS::Batch::JobDefinition", "batch:SubmitJob", "TokensPerSecond"]


def output_queue(scope: Construct, queue: batch.IJobQueue) -> None:
    cdk.CfnOutput(scope, "JobQueueArn", value=queue.job_queue_arn)


def let_through(file_system: fsx.IFileSystem, client: ec2.IConnectable) -> None:
    file_system.connections.allow_default_port_from(client)


def taken_by_code_that_knows_the_cdk_only(app: cdk.App) -> list[str]:
    here = stack(app)
    image = ec2.MachineImage.generic_linux({"us-east-2": AMI})
    made = cluster(
        here,
        "Cluster",
        image_id=image,
        capacity=uc.OnDemand(zone_id=ZONE),
        placement=ec2.PlacementGroupStrategy.CLUSTER,
    )
    output_queue(here, made.queue)
    if made.file_system:
        let_through(made.file_system, ec2.Connections())
    if made.network.endpoint_policies:
        made.network.endpoint_policies.allow_bucket("corpus-of-partner")
    return ['"JobQueueArn"', "s3:::corpus-of-partner/*"]


def stacks_that_refer_to_each_other(app: cdk.App) -> list[str]:
    base, storage, training = stack(app, "Base"), stack(app, "Storage"), stack(app)
    vpc = ec2.Vpc(base, "Vpc", max_azs=3, restrict_default_security_group=False)
    key = uc.ClusterKey(base, "Key").key
    bucket = s3.Bucket(storage, "Checkpoints", encryption_key=key, encryption=s3.BucketEncryption.KMS)
    topic = sns.Topic(storage, "Operators", master_key=key)
    cluster(
        training,
        "Cluster",
        network=vpc,
        vpc_subnets=ec2.SubnetSelection(subnets=[vpc.private_subnets[0]]),
        checkpoint_bucket=bucket,
        kms_key=key,
        notify=topic,  # pyright: ignore[reportArgumentType]
    )
    return ['"StackName": "Base"', '"StackName": "Storage"']


def data_of_another_region(app: cdk.App) -> list[str]:
    oregon = cdk.Environment(account=OHIO.account, region="us-west-2")
    data = cdk.Stack(app, "Data", env=oregon, cross_region_references=True)
    bucket = s3.Bucket(data, "Corpus")
    here = cdk.Stack(app, "Training", env=OHIO, cross_region_references=True)
    job = cluster(here, "Cluster").add_multi_node_job("Pretrain", JOB)
    uc.DatasetBucket.from_bucket(here, "Dataset", bucket).grant_read(job)
    return ['"Region": "us-west-2"', '"StackName": "Data"']


def environment_of_the_credentials(app: cdk.App) -> list[str]:
    account, region = os.environ.get("CDK_DEFAULT_ACCOUNT"), os.environ.get("CDK_DEFAULT_REGION")
    cluster(cdk.Stack(app, "Training", env=cdk.Environment(account=account, region=region)), "Cluster")
    return ["AWS::Batch::JobQueue"]


class AcmeCluster(uc.UltraCluster):
    """A subclass with the company's defaults."""

    def __init__(self, scope: Construct, construct_id: str, *, team: str, nodes: int = 2) -> None:
        super().__init__(
            scope,
            construct_id,
            instance_type=TYPE,
            node_count=nodes,
            image_id=AMI,
            capacity=BLOCK,
            notify=f"{team}@example.com",
            cluster_name=team,
            tags={"team": team},
        )
        self.pretrain = self.add_multi_node_job("Pretrain", JOB)


def a_subclass(app: cdk.App) -> list[str]:
    made = AcmeCluster(stack(app), "Cluster", team="red")
    made.pretrain.metric_loss().create_alarm(made, "Loss", threshold=9, evaluation_periods=1)
    return ["red@example.com", '"Value": "red"']


class AcmeJob(Construct):
    """A wrapper that passes on the arguments of a job."""

    def __init__(
        self, scope: Construct, construct_id: str, made: uc.IUltraCluster, **options: Unpack[uc.JobOptions]
    ) -> None:
        super().__init__(scope, construct_id)
        self.job = made.add_multi_node_job(construct_id, dataclasses.replace(JOB, resume=3), **options)


def a_wrapper(app: cdk.App) -> list[str]:
    here = stack(app)
    AcmeJob(here, "Pretrain", cluster(here, "Cluster"), timeout=cdk.Duration.days(1))
    return ['"AttemptDurationSeconds": 86400', "ultracluster:resume"]


def secrets_and_variables(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster", network=uc.Network(endpoints=("secretsmanager",)))
    token = secretsmanager.Secret(here, "Token")
    parameter = ssm.StringParameter.from_secure_string_parameter_attributes(
        here, "Key", parameter_name="/wandb"
    )
    corpus = s3.Bucket(here, "Corpus")
    job = made.add_multi_node_job(
        "Pretrain",
        uc.Job(
            image=IMAGE,
            command=("train.py", "--data", corpus.s3_url_for_object()),
            environment={"CORPUS": corpus.bucket_name},
        ),
        secrets={
            "HF_TOKEN": batch.Secret.from_secrets_manager(token),  # pyright: ignore[reportArgumentType]
            "WANDB_API_KEY": batch.Secret.from_ssm_parameter(parameter),
        },
    )
    corpus.grant_read(job)
    return ['"Name": "HF_TOKEN"', '"Name": "WANDB_API_KEY"', '"Name": "CORPUS"']


def dependencies_and_connections(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    bastion = ec2.BastionHostLinux(here, "Bastion", vpc=made.network.vpc)
    made.network.connections.allow_from(bastion, ec2.Port.tcp(22), "Bastion")
    made.nodes.connections.allow_from(bastion, ec2.Port.icmp_ping())
    if made.file_system:
        made.file_system.connections.allow_default_port_from(bastion)
    made.network.vpc.add_interface_endpoint("Bedrock", service=ec2.InterfaceVpcEndpointAwsService.BEDROCK)
    parameter = ssm.StringParameter(here, "QueueArn", string_value=made.queue.job_queue_arn)
    parameter.node.add_dependency(made)
    return ["Bastion", "bedrock", '"DependsOn"']


def dashboards_and_budget(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(here, "Cluster")
    board = uc.ClusterDashboard(here, "Dashboard", cluster=made)
    board.add_widgets("Ours", cloudwatch.GraphWidget(title="Tokens", left=[made.metric_tokens_per_second()]))
    uc.ClusterBudget(here, "Budget", monthly_usd=50_000, tag_value="Training", queues_to_close=[made.queue])
    return ["Tokens", "AWS::Budgets::Budget"]


def images_by_parameter_and_lookup(app: cdk.App) -> list[str]:
    here = stack(app)
    found = ec2.MachineImage.lookup(name="acme-neuron-*", owners=["self"])
    cluster(here, "Cluster", image_id=found)
    parameter = ec2.MachineImage.from_ssm_parameter("/acme/ami", cached_in_context=True)
    cluster(stack(app, "Other"), "Cluster", image_id=parameter, capacity=uc.OnDemand(zone_id=ZONE))
    return ["AWS::Batch::JobQueue"]


def scripts_on_nodes(app: cdk.App) -> list[str]:
    script = ec2.UserData.for_linux()
    script.add_commands("sysctl -w vm.swappiness=1")
    made = cluster(stack(app), "Cluster", user_data=script, scratch_path="/scratch")
    made.add_multi_node_job(
        "Pretrain", dataclasses.replace(JOB, mounts=(uc.Mount(source="/opt/acme", read_only=True),))
    )
    return ["/opt/acme"]


def several_sources_and_queues(app: cdk.App) -> list[str]:
    here = stack(app)
    made = cluster(
        here,
        "Cluster",
        capacity=[BLOCK, uc.OnDemand(name="spill", max_nodes=1), uc.Spot(name="spot", max_nodes=2)],
        queue=uc.Queue(capacity=("capacity", "spill"), shares={"research": 4, "evaluation": 1}),
    )
    small = made.add_queue("small", uc.Queue(capacity=("spot", "spill"), priority=10))
    made.add_single_node_job("Evaluate", JOB, queue=small)
    cdk.CfnOutput(here, "Small", value=small.job_queue_arn, export_name="SmallQueue")
    return ["AWS::Batch::SchedulingPolicy", "SmallQueue"]


def judged_by_plugins(app: cdk.App) -> list[str]:
    import cdk_nag

    made = cluster(stack(app), "Cluster")
    cdk.Validations.of(app).add_plugins(uc.TemplateCheck(), cdk_nag.AwsSolutionsChecks(app))
    uc.acknowledge_nag(app)
    cdk.Validations.of(made).acknowledge(cdk.Acknowledgment(id="ultracluster:UC3208", reason="known"))
    return ["AWS::Batch::JobQueue"]


APPS: tuple[Callable[[cdk.App], list[str]], ...] = tuple(
    value for value in list(globals().values()) if getattr(value, "__annotations__", {}).get("app") is cdk.App
)
