"""Calls in code and scripts, the roles that must allow them, and code that never runs."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

CODE = """import os, boto3
batch, sns = boto3.client("batch"), boto3.client("sns")
def handler(event, context):
    for page in batch.get_paginator("list_jobs").paginate(jobQueue=os.environ["QUEUE"]):
        batch.terminate_job(jobId="1", reason="end")
    sns.publish(TopicArn="arn", Message="ended")
    boto3.client("lambda").invoke(FunctionName="next")
"""
ACTIONS = ["batch:ListJobs", "batch:TerminateJob", "sns:Publish", "lambda:InvokeFunction"]


def codes(*, code: str = CODE, handler: str = "index.handler", actions: list[str] = ACTIONS, variables: Any = None) -> set[str]:  # fmt: skip
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
    allowed = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    given = {"QUEUE": "block"} if variables is None else variables
    function = {"Runtime": "python3.13", "Handler": handler, "Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Environment": {"Variables": given}, "Code": {"ZipFile": code}}  # fmt: skip
    body = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": allowed}]}},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body}, region="us-east-2")])
    return {each.code for each in report.findings}


BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6433", "a handler that the code lacks", {"handler": "index.main"}),
    ("UC6433", "code that Python cannot read", {"code": CODE + "\nreturn ="}),
    ("UC6433", "a variable that is not set", {"variables": {"QUEUES": "block"}}),
    *(
        ("UC6438", f"no {action}", {"actions": [each for each in ACTIONS if each != action]})
        for action in ACTIONS
    ),
)
KEPT: tuple[dict[str, Any], ...] = (
    {},
    {"actions": ["batch:*", "sns:*", "lambda:Invoke*"]},
    {"variables": {"Ref": "Unknown"}},
    {"code": CODE.replace('os.environ["QUEUE"]', 'os.environ.get("QUEUE")'), "variables": {}},
    {"code": CODE.replace("def handler", "def main"), "handler": "index.main"},
    {"code": CODE + "    boto3.client('sts').get_caller_identity()\n"},
    {"code": CODE + "    batch.exceptions.ClientException\n    batch.close()\n"},
)


@pytest.mark.parametrize(("code", "name", "changes"), BROKEN)
def test_code_that_cannot_do_its_work_breaks_the_rule(code: str, name: str, changes: dict[str, Any]) -> None:
    assert code in codes(**changes), name


@pytest.mark.parametrize("changes", KEPT, ids=str)
def test_code_that_can_do_its_work_keeps_the_rules(changes: dict[str, Any]) -> None:
    assert codes(**changes) & {"UC6433", "UC6438"} == set()


@pytest.mark.parametrize(
    ("script", "action"),
    [
        ("aws s3 cp s3://data/setup.sh .", "s3:GetObject"),
        ("aws --region us-east-2 s3 sync /fsx/logs s3://data/logs", "s3:PutObject"),
        ("value=$(aws ssm get-parameter --name /training/image)", "ssm:GetParameter"),
    ],
)
def test_user_data_needs_the_rights_of_its_commands(script: str, action: str) -> None:
    def found(*actions: str) -> list[str]:
        trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
        allowed = {"Statement": [{"Effect": "Allow", "Action": [*actions], "Resource": "*"}]}
        body = {
            "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": allowed}]}},
            "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}}, "UserData": {"Fn::Base64": f"#!/bin/bash\n{script}\n"}}}},
            "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}}},
        }  # fmt: skip
        report = check_templates([Source(name="it", body={"Resources": body})])
        return [each.problem for each in report.findings if each.code == "UC6438"]

    assert found(action) == []
    (problem,) = found("logs:PutLogEvents")
    assert action in problem


def role_codes(*statements: Any, trusts: str = "lambda") -> set[str]:
    """Return the codes for a role with statements, beside a role of nodes, a bucket and a queue."""

    def role(service: str, *allowed: Any) -> dict[str, Any]:
        trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
        document = {"Statement": [{"Effect": "Allow"} | each for each in allowed]}
        return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": document}]}}  # fmt: skip

    body = {"Role": role(trusts, *statements), "Nodes": role("ec2"), "Data": {"Type": "AWS::S3::Bucket"}, "Queue": {"Type": "AWS::Batch::JobQueue"}}  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])
    return {each.code for each in report.findings}


BUCKET, QUEUE = {"Fn::GetAtt": ["Data", "Arn"]}, {"Ref": "Queue"}
JOBS = "arn:aws:batch:us-east-2:123456789012:job/*"
DEFINITIONS = "arn:aws:batch:us-east-2:123456789012:job-definition/*"


@pytest.mark.parametrize(
    ("action", "nothing", "something"),
    [
        ("s3:GetObject", BUCKET, {"Fn::Sub": "${Data.Arn}/*"}),
        ("s3:ListBucket", "arn:aws:s3:::data/*", "arn:aws:s3:::data*"),
        ("batch:TerminateJob", DEFINITIONS, JOBS),
        ("batch:TerminateJob", QUEUE, "*"),
        ("batch:SubmitJob", QUEUE, [QUEUE, DEFINITIONS]),
        ("batch:SubmitJob", DEFINITIONS, "arn:aws:batch:*:*:*"),
        ("kms:Decrypt", "arn:aws:kms:us-east-2:123456789012:alias/data", "arn:aws:kms:us-east-2:123456789012:key/*"),
    ],
)  # fmt: skip
def test_an_action_on_what_it_does_not_take_is_found(action: str, nothing: Any, something: Any) -> None:
    assert "UC6462" in role_codes({"Action": action, "Resource": nothing})
    assert "UC6462" not in role_codes({"Action": action, "Resource": something})
    assert "UC6462" not in role_codes(
        {"Action": action, "Resource": nothing}, {"Action": action, "Resource": "*"}
    )


def test_a_role_is_passed_to_a_service_that_it_trusts() -> None:
    def passing(service: str, action: str = "") -> set[str]:
        named = {"Condition": {"StringEquals": {"iam:PassedToService": f"{service}.amazonaws.com"}}} if service else {}  # fmt: skip
        passed = {"Action": "iam:PassRole", "Resource": {"Fn::GetAtt": ["Nodes", "Arn"]}}
        return role_codes(passed | named, {"Action": action or "logs:PutLogEvents", "Resource": "*"}) & {
            "UC6455"
        }

    assert passing("ec2") == passing("", "ec2:RunInstances") == set()
    assert passing("ecs-tasks") == passing("", "batch:RegisterJobDefinition") == {"UC6455"}


@pytest.mark.parametrize(("visible", "actions", "code"), [(30, "*", "UC6461"), (60, "*", ""), (60, "sqs:SendMessage", "UC6438")])  # fmt: skip
def test_a_function_reads_its_queue_and_has_time_for_it(visible: int, actions: str, code: str) -> None:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
    allowed = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    body = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": allowed}]}},
        "Do": {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Timeout": 60}},
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": visible}},
        "Read": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Do"}, "EventSourceArn": {"Fn::GetAtt": ["Queue", "Arn"]}}},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])

    assert {each.code for each in report.findings} & {"UC6438", "UC6461"} == ({code} if code else set())
