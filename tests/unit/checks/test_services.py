"""Services of Amazon ECS, hosts and node groups that fit their tasks and clusters."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


def codes(
    *,
    joined: str = "${Cluster}",
    mode: str = "host",
    target: str = "instance",
    task: dict[str, Any] | None = None,
    **service: Any,
) -> set[str]:
    """Return the codes for a service on hosts of an Auto Scaling group."""
    container = {"Name": "serve", "Image": "serve:1", "PortMappings": [{"ContainerPort": 8080}]}
    balancer = {"ContainerName": "serve", "ContainerPort": 8080, "TargetGroupArn": {"Ref": "Group"}}
    given = {
        "Cluster": {"Ref": "Cluster"},
        "TaskDefinition": {"Ref": "Serve"},
        "LoadBalancers": [balancer | service.pop("balancer", {})],
    }
    data = {
        "UserData": {
            "Fn::Base64": {"Fn::Sub": f"#!/bin/bash\necho ECS_CLUSTER={joined} >> /etc/ecs/ecs.config\n"}
        }
    }
    body = {
        "Cluster": {"Type": "AWS::ECS::Cluster", "Properties": {"ClusterName": "serving"}},
        "Other": {"Type": "AWS::ECS::Cluster"},
        "Group": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": {"TargetType": target}},
        "Serve": {"Type": "AWS::ECS::TaskDefinition", "Properties": {"NetworkMode": mode, "ContainerDefinitions": [container]} | (task or {})},
        "Service": {"Type": "AWS::ECS::Service", "Properties": given | service},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Hosts": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}}},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])
    return {each.code for each in report.findings}


SUBNETS = {"AwsvpcConfiguration": {"Subnets": ["subnet-0123456789abcdef0"]}}
BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6463", "a container of no task", {"balancer": {"ContainerName": "server"}}),
    ("UC6463", "a port of no container", {"balancer": {"ContainerPort": 8081}}),
    ("UC6463", "targets of another kind", {"target": "ip"}),
    ("UC6463", "no subnets", {"mode": "awsvpc", "target": "ip"}),
    ("UC6463", "Fargate on the network of hosts", {"LaunchType": "FARGATE"}),
    ("UC6463", "a task for EC2 on Fargate", {"LaunchType": "FARGATE", "mode": "awsvpc", "target": "ip", "NetworkConfiguration": SUBNETS, "task": {"RequiresCompatibilities": ["EC2"]}}),
    ("UC6463", "no room to replace tasks", {"DeploymentConfiguration": {"MinimumHealthyPercent": 100, "MaximumPercent": 100}}),
    ("UC6463", "hosts in another cluster", {"joined": "default"}),
    ("UC6463", "hosts in a cluster beside it", {"joined": "${Other}"}),
)  # fmt: skip
KEPT: tuple[dict[str, Any], ...] = (
    {},
    {"joined": "serving"},
    {"joined": "${Unknown}"},
    {"mode": "awsvpc", "target": "ip", "NetworkConfiguration": SUBNETS},
    {"DeploymentConfiguration": {"MinimumHealthyPercent": 50, "MaximumPercent": 100}},
    {"balancer": {"ContainerName": {"Ref": "Unknown"}, "ContainerPort": {"Ref": "Unknown"}}},
)


@pytest.mark.parametrize(("code", "name", "changes"), BROKEN)
def test_a_service_that_does_not_fit_breaks_the_rule(code: str, name: str, changes: dict[str, Any]) -> None:
    assert code in codes(**changes), name


@pytest.mark.parametrize("changes", KEPT, ids=str)
def test_a_service_that_fits_keeps_the_rule(changes: dict[str, Any]) -> None:
    assert "UC6463" not in codes(**changes)


@pytest.mark.parametrize(("groups", "found"), [(["Own"], {"UC6463"}), (["Own", "Cluster"], set()), (["Admitting"], set())])  # fmt: skip
def test_nodes_have_or_admit_the_group_of_their_cluster(groups: list[str], found: set[str]) -> None:
    def group(name: str) -> Any:
        return {"Fn::GetAtt": ["Cluster", "ClusterSecurityGroupId"]} if name == "Cluster" else {"Ref": name}

    admitted = [{"IpProtocol": "-1", "SourceSecurityGroupId": group("Cluster")}]
    data = {"SecurityGroupIds": [group(each) for each in groups]}
    body = {
        "Cluster": {"Type": "AWS::EKS::Cluster"},
        "Own": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "own"}},
        "Admitting": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"SecurityGroupIngress": admitted}},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Nodes": {"Type": "AWS::EKS::Nodegroup", "Properties": {"ClusterName": {"Ref": "Cluster"}, "LaunchTemplate": {"Id": {"Ref": "Template"}}}},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])

    assert {each.code for each in report.findings} & {"UC6463"} == found


def test_nodes_of_batch_join_no_cluster_by_name() -> None:
    data = {"UserData": {"Fn::Base64": "#!/bin/bash\necho ECS_CLUSTER=training >> /etc/ecs/ecs.config\n"}}
    resources = {"Type": "EC2", "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}}
    body = {
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Nodes": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"Type": "MANAGED", "ComputeResources": resources}},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])

    assert "UC6463" in {each.code for each in report.findings}


IN_VPC = {"VpcConfig": {"SubnetIds": [{"Ref": "Subnet"}]}}
SCRIPTS = {"SubnetId": {"Ref": "Subnet"}, "InstanceProfileName": {"Ref": "Profile"}}
STARTED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("AWS::CodeBuild::Project", {"VpcConfig": {"Subnets": [{"Ref": "Subnet"}]}}, "logs s3"),
    ("AWS::ImageBuilder::InfrastructureConfiguration", SCRIPTS, "ssm ssmmessages s3"),
    ("AWS::SageMaker::Cluster", {"VpcConfig": {"Subnets": [{"Ref": "Subnet"}]}}, "s3"),
    ("AWS::Lambda::Function", IN_VPC | {"Runtime": "python3.13", "Code": {"ZipFile": "import boto3\nboto3.client('sns').publish()\n"}}, "sns"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "properties", "needed"), STARTED)
def test_what_calls_services_in_a_subnet_has_a_way_to_them(kind: str, properties: dict[str, Any], needed: str) -> None:  # fmt: skip
    def found(*endpoints: str) -> set[str]:
        made = {f"To{number}": {"Type": "AWS::EC2::VPCEndpoint", "Properties": {"VpcId": {"Ref": "Vpc"}, "ServiceName": f"com.amazonaws.us-east-2.{name}", "VpcEndpointType": "Interface", "PrivateDnsEnabled": True}} for number, name in enumerate(endpoints)}  # fmt: skip
        body = {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"EnableDnsSupport": True, "EnableDnsHostnames": True}},
            "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}}},
            "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
            "In": {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Table"}}},
            "It": {"Type": kind, "Properties": properties},
        }  # fmt: skip
        report = check_templates([Source(name="it", body={"Resources": body | made}, region="us-east-2")])
        return {each.path.partition(".")[0] for each in report.findings if each.code == "UC3211"}

    assert "It" in found()
    assert "It" not in found(*needed.split())


@pytest.mark.parametrize(
    ("kind", "properties", "action"),
    [
        ("AWS::CodeBuild::Project", {"ServiceRole": "ROLE"}, "logs:*"),
        ("AWS::EKS::Nodegroup", {"NodeRole": "ROLE"}, "ecr:*"),
        ("AWS::Lambda::Function", {"Role": "ROLE"} | IN_VPC, "ec2:CreateNetworkInterface"),
        ("AWS::SageMaker::Cluster", {"InstanceGroups": [{"ExecutionRole": "ROLE"}]}, "s3:*"),
        ("AWS::StepFunctions::StateMachine", {"RoleArn": "ROLE", "LoggingConfiguration": {"Destinations": [{}]}}, "logs:CreateLogDelivery"),
    ],
)  # fmt: skip
def test_a_role_allows_what_its_user_does(kind: str, properties: dict[str, Any], action: str) -> None:
    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put(each) for key, each in value.items()}
        return [put(each) for each in value] if isinstance(value, list) else {"Fn::GetAtt": ["Role", "Arn"]} if value == "ROLE" else value  # fmt: skip

    def found(allowed: str) -> set[str]:
        document = {"Statement": [{"Effect": "Allow", "Action": allowed, "Resource": "*"}]}
        body = {
            "Role": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": document}]}},
            "It": {"Type": kind, "Properties": put(properties)},
        }
        report = check_templates([Source(name="it", body={"Resources": body})])
        return {each.code for each in report.findings} & {"UC6438"}

    assert found(action) == set()
    assert found("sts:AssumeRole") == {"UC6438"}
