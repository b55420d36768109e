from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from tests.unit.ultracluster.builders import IMAGE, block, new_stack, nodes, of_type, only, queue
from tests.unit.ultracluster.iam_evaluation import allows, identity_statements

from ultracluster import (
    ITrainingQueue,
    Job,
    JobResume,
    MultiNodeJob,
    PosixCompileCache,
    Queue,
    SingleNodeJob,
    TrainingQueue,
)
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

ARN = "arn:aws:batch:us-east-2:123456789012:job-queue/train"


def imported(stack: cdk.Stack, **changes: Any) -> ITrainingQueue:
    return TrainingQueue.from_training_queue_attributes(
        stack,
        "Imported",
        **{
            "job_queue_arn": ARN,
            "instance_type": "trn2.48xlarge",
            "max_nodes": 4,
            "log_group": logs.LogGroup.from_log_group_name(stack, "Logs", "train-logs"),
        }
        | changes,
    )


def principal(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())


def statements(role: iam.Role) -> list[dict[str, Any]]:
    stack = cdk.Stack.of(role)
    return identity_statements(stack, stack.get_logical_id(role.node.default_child))  # type: ignore[arg-type] - the L1


def container(stack: cdk.Stack) -> dict[str, Any]:
    definition = only(stack, "AWS::Batch::JobDefinition")
    return dict(definition["NodeProperties"]["NodeRangeProperties"][0]["Container"])


def test_a_job_on_an_imported_queue_has_the_container_of_one_on_the_queue_itself(stack: cdk.Stack) -> None:
    here = queue(stack, capacity=block())
    MultiNodeJob(stack, "Job", Job(image=IMAGE, command=("train.py",)), queue=here)
    there = new_stack()
    MultiNodeJob(
        there, "Job", Job(image=IMAGE, command=("train.py",)), queue=imported(there, mount_path=None)
    )

    one, other = container(stack), container(there)
    assert other["LogConfiguration"]["Options"]["awslogs-group"] == "train-logs"
    for each in (one, other):
        del each["LogConfiguration"], each["JobRoleArn"], each["ExecutionRoleArn"]
    assert one == other
    assert only(there, "AWS::Batch::JobDefinition")["Tags"] == {QUEUE_TAG: ARN}
    assert "Tags" not in only(stack, "AWS::Batch::JobDefinition")


def test_what_is_said_of_an_imported_queue_reaches_its_jobs(stack: cdk.Stack) -> None:
    there = imported(
        stack, scratch_path="/scratch", nic_layout="all-efa", has_shares=True, launched_by="auto-scaling"
    )
    MultiNodeJob(
        stack,
        "Job",
        Job(image=IMAGE, command=("train.py",)),
        queue=there,
        compile_cache=PosixCompileCache(there.nodes.file_system),
    )

    definition = only(stack, "AWS::Batch::JobDefinition")
    assert definition["SchedulingPriority"] == 0
    assert definition["Type"] == "container"
    assert definition["Tags"]["ultracluster:array-size"] == "4"
    paths = [each["ContainerPath"] for each in definition["ContainerProperties"]["MountPoints"]]
    assert {"/fsx", "/scratch"} <= set(paths)
    assert len(there.nodes.efa_devices) == 16


@pytest.mark.parametrize(
    ("changes", "options", "code"),
    [
        ({"has_spot": True}, {}, "UC6308"),
        ({}, {"nodes": 5}, "UC6101"),
        ({}, {"resume": 3}, "UC6117"),
        ({"max_nodes": 0}, {}, "UC4101"),
        ({"instance_type": "trn9"}, {}, "UC4001"),
        ({"nic_layout": "none"}, {}, "UC4002"),
    ],
)
def test_jobs_that_an_imported_queue_cannot_run_are_refused(
    stack: cdk.Stack, changes: dict[str, Any], options: dict[str, Any], code: str
) -> None:
    job = Job(image=IMAGE, command=("train.py",), **options)
    with pytest.raises(FindingsError, match=code) as refused:
        MultiNodeJob(stack, "Job", job, queue=imported(stack, **changes))
    assert len(refused.value.findings) == 1


def test_a_queue_imported_by_its_arn_refuses_jobs_and_says_how_to_import_it(stack: cdk.Stack) -> None:
    there = TrainingQueue.from_training_queue_arn(stack, "Imported", ARN)

    assert there.is_imported
    assert there.job_queue_name == "train"
    with pytest.raises(
        FindingsError, match=r"UC6316: Test/Imported: nodes: a queue .*from_training_queue_attributes"
    ):
        SingleNodeJob(stack, "Job", Job(image=IMAGE, command=("train.py",)), queue=there)
    with pytest.raises(
        FindingsError, match=r"UC6316: Test/Imported: log_group: a queue .* does not know its log_group"
    ):
        print(there.log_group_arn)  # noqa: T201 - the access is what fails


def test_constructs_of_the_platform_refuse_an_imported_queue_by_its_class(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        JobResume(stack, "Resume", queue=imported(stack))
    assert (
        str(refused.value)
        == "UC1032: Test/Resume: queue: got an object of _ImportedQueue. Allowed: TrainingQueue."
    )


def test_grant_submit_covers_the_jobs_of_the_queue_before_and_after_it_and_no_others(
    stack: cdk.Stack,
) -> None:
    here = queue(stack, capacity=block())
    person = principal(stack)
    first = MultiNodeJob(stack, "First", Job(image=IMAGE, command=("train.py",)), queue=here)
    here.grant_submit(person).assert_success()
    second = SingleNodeJob(stack, "Second", Job(image=IMAGE, command=("train.py",)), queue=here)

    (submit,) = [each for each in statements(person) if each["Action"] == "batch:SubmitJob"]
    arns = [stack.resolve(each.job_definition_arn) for each in (first, second)]
    queues = [
        f"arn:aws:test:::{name}"
        for name in assertions.Template.from_stack(stack).find_resources("AWS::Batch::JobQueue")
    ]
    assert submit["Resource"][1:] == [each["Ref"] for each in arns]
    assert len(submit["Resource"]) == len(queues) + len(arns)
    assert not allows(statements(person), "batch:TerminateJob")
    assert not any("*" in each for one in statements(person) for each in _actions(one))


def test_a_job_grants_its_submission_to_a_queue_of_another_stack() -> None:
    platform = new_stack()
    here = queue(platform, capacity=block())
    research = cdk.Stack(platform.node.scope, "Research", env=cdk.Environment(region="us-east-2"))  # type: ignore[arg-type] - an app
    person = principal(research)
    job = SingleNodeJob(research, "Job", Job(image=IMAGE, command=("train.py",)), queue=here)
    job.grant_submit(person).assert_success()
    here.grant_submit(principal(platform))

    (submit,) = [each for each in statements(person) if each["Action"] == "batch:SubmitJob"]
    assert len(submit["Resource"]) == 2
    assert "Fn::ImportValue" in only(research, "AWS::Batch::JobDefinition")["Tags"][QUEUE_TAG]
    (platforms,) = [
        each for each in of_type(platform, "AWS::IAM::Policy") if "Person" in str(each["Properties"]["Roles"])
    ]
    assert "Research" not in str(platforms)


def test_grant_read_allows_what_the_jobs_commands_read(stack: cdk.Stack) -> None:
    person = principal(stack)
    imported(stack).grant_read(person).assert_success()

    read = statements(person)
    for action in (
        "DescribeJobs",
        "ListJobs",
        "DescribeJobQueues",
        "DescribeJobDefinitions",
        "DescribeComputeEnvironments",
    ):
        assert allows(read, f"batch:{action}")
    assert allows(read, "batch:GetJobQueueSnapshot", ARN)
    assert not allows(read, "batch:GetJobQueueSnapshot", ARN.replace("train", "other"))
    (logs_of_jobs,) = [each for each in read if "logs:GetLogEvents" in _actions(each)]
    assert "train-logs" in str(logs_of_jobs["Resource"])
    assert not allows(read, "batch:SubmitJob", ARN)
    assert not any("*" in each for one in read for each in _actions(one))


def test_a_queue_imported_by_its_arn_grants_and_has_rules(stack: cdk.Stack) -> None:
    there = TrainingQueue.from_training_queue_arn(stack, "Imported", ARN)
    person = principal(stack)
    there.grant_read(person).assert_success()
    there.grant_submit(person).assert_success()
    there.on_blocked("Blocked", targets.SnsTopic(sns.Topic(stack, "Topic")))

    assert allows(statements(person), "batch:SubmitJob", ARN)
    assert only(stack, "AWS::Events::Rule")["EventPattern"]["detail"] == {"jobQueue": [ARN]}


def _actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else list(action)


def test_a_queue_is_one_of_the_cdk(stack: cdk.Stack) -> None:
    ours = queue(stack)
    job = MultiNodeJob(stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=ours)
    nightly = events.Rule(stack, "Nightly", schedule=events.Schedule.rate(cdk.Duration.days(1)))
    nightly.add_target(targets.BatchJob(ours.job_queue_arn, ours, job.job_definition_arn, job))
    task = tasks.BatchSubmitJob(
        stack,
        "Task",
        job_definition_arn=job.job_definition_arn,
        job_name="train",
        job_queue_arn=ours.job_queue_arn,
    )
    sfn.StateMachine(stack, "Machine", definition_body=sfn.DefinitionBody.from_chainable(task))
    container = batch.EcsEc2ContainerDefinition(
        stack, "Container", image=ecs.ContainerImage.from_registry(IMAGE), cpu=1, memory=cdk.Size.mebibytes(4)
    )
    person = principal(stack)
    batch.EcsJobDefinition(stack, "Theirs", container=container).grant_submit_job(person, ours)

    (name,) = assertions.Template.from_stack(stack).find_resources("AWS::Batch::JobQueue")
    arn = {"Fn::GetAtt": [name, "JobQueueArn"]}
    (target,) = only(stack, "AWS::Events::Rule")["Targets"]
    assert target["Arn"] == arn
    assert name in str(only(stack, "AWS::StepFunctions::StateMachine")["DefinitionString"])
    assert arn in [each for one in statements(person) for each in one["Resource"]]


def test_a_queue_tells_what_the_cdk_asks_of_one(stack: cdk.Stack) -> None:
    theirs = TrainingQueue.from_training_queue_arn(stack, "There", ARN.replace("us-east-2", "us-west-2"))
    ours = TrainingQueue(stack, "Queue", nodes=nodes(stack), max_nodes=4, settings=Queue(priority=7))
    for given, priority, region in ((theirs, 1, "us-west-2"), (ours, 7, "us-east-2")):
        assert (given.priority, given.env.region) == (priority, region)
        assert given.job_queue_ref.job_queue_arn == given.job_queue_arn
        assert (given.enabled, given.compute_environments, given.scheduling_policy) == (True, [], None)
        with pytest.raises(FindingsError, match="UC6316"):
            given.add_compute_environment(
                batch.FargateComputeEnvironment.from_fargate_compute_environment_arn(
                    given, "Other", "arn:aws:batch:us-east-2:123456789012:compute-environment/other"
                ),
                2,
            )


def test_a_job_has_the_metrics_of_its_program(stack: cdk.Stack) -> None:
    job = MultiNodeJob(stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=queue(stack))
    for metric in (job.metric("Mfu"), job.metric_loss(label="loss"), job.metric_tokens_per_second()):
        assert metric.dimensions == {"Cluster": "Test", "Job": "Train"}
    assert job.metric_loss(label="loss", period=cdk.Duration.minutes(2)).period.to_minutes() == 2
    with pytest.raises(FindingsError, match="UC6442"):
        job.metric("UnusedNodes")
