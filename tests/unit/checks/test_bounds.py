"""Numbers, lengths and names that AWS's APIs refuse."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6458", "Lambda::Function", {"MemorySize": 20_480}),
    ("UC6458", "Lambda::Function", {"Layers": [f"arn:aws:lambda:us-east-2:123456789012:layer:{n}:1" for n in range(6)]}),
    ("UC6458", "S3::Bucket", {"BucketName": {"Fn::Sub": "data_${AWS::AccountId}"}}),
    ("UC6458", "SQS::Queue", {"VisibilityTimeout": 43_201}),
    ("UC6458", "Batch::JobQueue", {"JobQueueName": "two words"}),
    ("UC6458", "Batch::SchedulingPolicy", {"FairsharePolicy": {"ShareDistribution": [{"WeightFactor": 1000}]}}),
    ("UC6458", "Events::Rule", {"ScheduleExpression": "rate(1 minutes)"}),
    ("UC6458", "Events::Rule", {"ScheduleExpression": "cron(0 * * * *)"}),
    ("UC6458", "Events::Rule", {"ScheduleExpression": "cron(0 1 * * * *)"}),
    ("UC6458", "Events::Rule", {"ScheduleExpression": "cron(0 1 ? * 0-5 *)"}),
    ("UC6458", "Logs::LogGroup", {"RetentionInDays": 45}),
    ("UC6458", "Scheduler::Schedule", {"Target": {"RetryPolicy": {"MaximumRetryAttempts": 186}}}),
    ("UC6458", "Batch::JobQueue", {"JobStateTimeLimitActions": [{"Reason": "CAPACITY:NONE"}]}),
    ("UC6458", "IAM::Role", {"ManagedPolicyArns": [f"arn:aws:iam::123456789012:policy/{n}" for n in range(11)]}),
    ("UC6458", "EC2::Subnet", {"CidrBlock": "10.0.0.0/29"}),
    ("UC6458", "CloudWatch::Alarm", {"Period": 90}),
    ("UC6458", "AutoScaling::AutoScalingGroup", {"MinSize": "2", "MaxSize": "1"}),
    ("UC6458", "EKS::Nodegroup", {"ScalingConfig": {"DesiredSize": 3, "MaxSize": 2}}),
    ("UC6458", "S3::Bucket", {"LifecycleConfiguration": {"Rules": [{"Transitions": [{"StorageClass": "STANDARD_IA", "TransitionInDays": 29}]}]}}),
    ("UC6458", "EC2::LaunchTemplate", {"LaunchTemplateData": {"BlockDeviceMappings": [{"Ebs": {"VolumeType": "gp3", "VolumeSize": 2000, "Iops": 80_001}}]}}),
    ("UC4209", "EC2::LaunchTemplate", {"LaunchTemplateData": {"UserData": {"Fn::Sub": "x" * 16_384 + "${AWS::StackName}y"}}}),
    ("UC6458", "CloudWatch::Alarm", {"EvaluationPeriods": 3, "DatapointsToAlarm": 4}),
    ("UC6458", "CloudWatch::Alarm", {"EvaluationPeriods": 30, "Period": 86_400}),
    ("UC6458", "FSx::FileSystem", {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1", "subnet-2"]}),
    ("UC6458", "EC2::LaunchTemplate", {"LaunchTemplateData": {"BlockDeviceMappings": [{"Ebs": {"VolumeType": "gp3", "VolumeSize": 10, "Iops": 6000}}]}}),
    ("UC6458", "EC2::LaunchTemplate", {"LaunchTemplateData": {"BlockDeviceMappings": [{"Ebs": {"VolumeType": "gp3", "VolumeSize": 10, "Throughput": 1000}}]}}),
    ("UC6458", "SageMaker::Cluster", {"InstanceGroups": [{"InstanceGroupName": "workers"}, {"InstanceGroupName": "workers"}]}),
    ("UC6458", "EC2::LaunchTemplate", {"LaunchTemplateData": {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda"}, {"DeviceName": "/dev/xvda"}]}}),
)  # fmt: skip
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Lambda::Function", {"MemorySize": 10_240, "Timeout": 900}),
    ("Batch::JobQueue", {"JobQueueName": {"Ref": "AWS::StackName"}, "Priority": 1000}),
    ("Events::Rule", {"ScheduleExpression": "rate(5 minutes)"}),
    ("Events::Rule", {"ScheduleExpression": "cron(0/5 * * * ? *)"}),
    ("Events::Rule", {"ScheduleExpression": "cron(0 1 ? * 1-5 *)"}),
    ("CloudWatch::Alarm", {"EvaluationPeriods": 7, "Period": 86_400, "DatapointsToAlarm": 7}),
    ("CloudWatch::Alarm", {"Period": 60}),
    ("CloudWatch::Alarm", {"Period": 10}),
    (
        "Scheduler::Schedule",
        {
            "ScheduleExpression": "at(2027-02-01T11:32:00)",
            "Target": {"RetryPolicy": {"MaximumRetryAttempts": 185}},
        },
    ),
    (
        "Batch::JobQueue",
        {"JobStateTimeLimitActions": [{"Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]},
    ),
    ("EC2::Subnet", {"CidrBlock": "10.0.0.0/28"}),
    (
        "SageMaker::Cluster",
        {"InstanceGroups": [{"InstanceGroupName": "head"}, {"InstanceGroupName": "workers"}]},
    ),
    (
        "SageMaker::Cluster",
        {"InstanceGroups": [{"InstanceGroupName": {"Ref": "A"}}, {"InstanceGroupName": {"Ref": "A"}}]},
    ),
    ("AutoScaling::AutoScalingGroup", {"MinSize": "1", "DesiredCapacity": "1", "MaxSize": "1"}),
    (
        "S3::Bucket",
        {
            "LifecycleConfiguration": {
                "Rules": [{"Transitions": [{"StorageClass": "STANDARD_IA", "TransitionInDays": 30}]}]
            }
        },
    ),
    (
        "EC2::LaunchTemplate",
        {
            "LaunchTemplateData": {
                "BlockDeviceMappings": [{"Ebs": {"VolumeType": "gp3", "VolumeSize": 2000, "Iops": 80_000}}]
            }
        },
    ),
    ("S3::Bucket", {"BucketName": {"Fn::Sub": "data-${AWS::AccountId}"}}),
)


def codes(kind: str, properties: dict[str, Any]) -> set[str]:
    body = {"Resources": {"It": {"Type": f"AWS::{kind}", "Properties": properties}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(("code", "kind", "properties"), BROKEN)
def test_a_value_out_of_bounds_breaks_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code in codes(kind, properties)


@pytest.mark.parametrize(("kind", "properties"), KEPT, ids=str)
def test_a_value_within_bounds_keeps_the_rule(kind: str, properties: dict[str, Any]) -> None:
    assert "UC6458" not in codes(kind, properties)


def test_two_queues_of_one_template_have_two_names() -> None:
    for second, found in (("urgent", False), ("training", True)):
        queues = {
            name: {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": name}}
            for name in ("training", second)
        }
        queues["Second"] = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": second}}
        queues.pop("urgent", None)
        report = check_templates([Source(name="it", body={"Resources": queues})])
        assert ("UC6458" in {each.code for each in report.findings}) is found
