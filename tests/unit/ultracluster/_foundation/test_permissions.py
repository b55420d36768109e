from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import of_type, queue

from ultracluster import CapacityBlock, Job, MultiNodeJob, UltraCluster

pytestmark = pytest.mark.slow

JOB = Job(image="123456789012.dkr.ecr.us-east-2.amazonaws.com/one:1", command=("train.py",))


def test_roles_that_are_passed_in_get_what_new_ones_would(stack: cdk.Stack) -> None:
    tasks = iam.ServicePrincipal("ecs-tasks.amazonaws.com")
    role, execution_role = (iam.Role(stack, name, assumed_by=tasks) for name in ("Program", "Execution"))
    jobs = queue(stack)
    for name in ("One", "Two"):
        image = f"123456789012.dkr.ecr.us-east-2.amazonaws.com/{name.lower()}:1"
        job = MultiNodeJob(
            stack,
            name,
            Job(image=image, command=("train.py",)),
            queue=jobs,
            job_role=role,
            execution_role=execution_role,
        )
        assert (job.role, job.execution_role) == (role, execution_role)
    policies = {
        each["Properties"]["Roles"][0]["Ref"]: each["Properties"]["PolicyDocument"]["Statement"]
        for each in of_type(stack, "AWS::IAM::Policy")
    }
    never = {name: [each for each in given if each["Effect"] == "Deny"] for name, given in policies.items()}
    program, execution = (stack.resolve(each.role_name)["Ref"] for each in (role, execution_role))
    assert len(never[program]) == len(never[execution]) == 1
    assert ":repository/one" in str(policies[execution])
    assert ":repository/two" in str(policies[execution])
    assert not any("Sid" in each for each in policies[execution])
    assert len(of_type(stack, "AWS::IAM::Role")) == len(_roles_without_jobs(stack)) + 2


@pytest.mark.parametrize("role_path", [None, "/team/ml/"])
def test_roles_of_another_stack_are_extended_where_the_cluster_is(role_path: str | None) -> None:
    app = cdk.App()
    env = cdk.Environment(account="123456789012", region="us-east-2")
    theirs, stack = (cdk.Stack(app, name, env=env) for name in ("Theirs", "Test"))
    role, job_role, execution_role = (
        iam.Role(theirs, name, assumed_by=iam.ServicePrincipal(f"{service}.amazonaws.com"), path=role_path)
        for name, service in (("Node", "ec2"), ("Program", "ecs-tasks"), ("Execution", "ecs-tasks"))
    )
    block = CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id="use2-az3")
    cluster = UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id="ami-0123456789abcdef0",
        capacity=block,
        role=role,
    )
    job = cluster.add_multi_node_job("Train", JOB, job_role=job_role, execution_role=execution_role)

    app.synth()  # does not end with a dependency cycle
    assert of_type(theirs, "AWS::IAM::Policy") == []
    attached = str([each["Properties"]["Roles"] for each in of_type(stack, "AWS::IAM::Policy")])
    for each in (role, job_role, execution_role):
        assert str(stack.resolve(each.role_name)) in attached
    for each in (job.role, job.execution_role):
        arn = str(stack.resolve(each.role_arn))
        assert f":role{role_path or '/'}'" in arn.replace('"', "'")
    assert not assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp("UC6165")
    )


@pytest.mark.parametrize("mutable", [True, False])
def test_what_an_imported_role_may_do_is_reported_as_unknown(stack: cdk.Stack, *, mutable: bool) -> None:
    arn = "arn:aws:iam::123456789012:role/theirs"
    job = MultiNodeJob(
        stack,
        "Train",
        Job(image="123456789012.dkr.ecr.us-east-2.amazonaws.com/one:1", command=("train.py",)),
        queue=queue(stack),
        job_role=iam.Role.from_role_arn(stack, "Theirs", arn, mutable=mutable),
    )
    found = assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp("UC6165: job_role: the role 'Test/Theirs' is imported")
    )
    assert len(found) == 1
    assert job.role.role_arn == arn
    policies = [each["Properties"] for each in of_type(stack, "AWS::IAM::Policy")]
    assert any("theirs" in each["Roles"] for each in policies) is mutable


def _roles_without_jobs(stack: cdk.Stack) -> list[Any]:
    return [
        each
        for each in of_type(stack, "AWS::IAM::Role")
        if "ecs-tasks.amazonaws.com" not in str(each["Properties"]["AssumeRolePolicyDocument"])
    ]
