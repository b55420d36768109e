"""Settings that are unsafe or wasteful in a resource of their own."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

_LISTENER = "ElasticLoadBalancingV2::Listener"
_FORWARD: dict[str, Any] = {"DefaultActions": [{"Type": "forward"}]}
_NETWORK = "ResourcesVpcConfig"
_EFS = {"Volumes": [{"EFSVolumeConfiguration": {"TransitEncryption": "DISABLED"}}]}


def _fetch(address: str) -> dict[str, Any]:
    return {
        "LaunchTemplateData": {
            "UserData": {"Fn::Base64": f"#!/bin/bash\ncurl -sO {address}/install.sh && sh install.sh\n"}
        }
    }


BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6470", "RDS::DBInstance", {"PubliclyAccessible": True}),
    ("UC6470", "EKS::Cluster", {}),
    ("UC6470", "EKS::Cluster", {_NETWORK: {"EndpointPublicAccess": True, "PublicAccessCidrs": ["0.0.0.0/0"]}}),
    ("UC6470", "ImageBuilder::DistributionConfiguration", {"Distributions": [{"AmiDistributionConfiguration": {"LaunchPermissionConfiguration": {"UserGroups": ["all"]}}}]}),
    ("UC6471", _LISTENER, {"Protocol": "HTTPS"}),
    ("UC6471", _LISTENER, {"Protocol": "TLS", "SslPolicy": "ELBSecurityPolicy-2016-08"}),
    ("UC6471", _LISTENER, {"Protocol": "HTTP", **_FORWARD}),
    ("UC6471", "ECS::TaskDefinition", _EFS),
    ("UC6471", "SNS::Subscription", {"Protocol": "http"}),
    ("UC6471", "EC2::LaunchTemplate", _fetch("http://drivers.example.com")),
    ("UC6472", "CloudTrail::Trail", {"EnableLogFileValidation": True, "IsLogging": False}),
    ("UC6472", "ECR::Repository", {"ImageTagMutability": "MUTABLE"}),
    ("UC6472", "ECR::Repository", {"ImageScanningConfiguration": {"ScanOnPush": False}}),
    ("UC6458", "EKS::Cluster", {_NETWORK: {"EndpointPublicAccess": False}}),
    ("UC5204", "SQS::Queue", {"SqsManagedSseEnabled": False}),
    ("UC5204", "RDS::DBInstance", {}),
    ("UC6410", "ECS::TaskDefinition", {"ContainerDefinitions": [{"Privileged": True}]}),
    ("UC6410", "ECS::TaskDefinition", {"PidMode": "host"}),
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/run/docker.sock"}}]}}),
    ("UC6410", "Batch::JobDefinition", {"NodeProperties": {"NodeRangeProperties": [{"Container": {"Privileged": True}}]}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"Containers": [{"Privileged": True}]}]}}),
    ("UC4207", "EC2::Instance", {"MetadataOptions": {"HttpTokens": "optional"}}),
    ("UC6483", "ImageBuilder::InfrastructureConfiguration", {"TerminateInstanceOnFailure": False}),
)  # fmt: skip
KEPT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6470", "RDS::DBInstance", {"PubliclyAccessible": {"Ref": "AWS::NoValue"}}),
    ("UC6470", "EKS::Cluster", {_NETWORK: {"EndpointPublicAccess": False}}),
    ("UC6470", "EKS::Cluster", {_NETWORK: {"EndpointPublicAccess": True, "PublicAccessCidrs": ["192.0.2.0/24"]}}),
    ("UC6458", "EKS::Cluster", {_NETWORK: {"EndpointPublicAccess": False, "EndpointPrivateAccess": True}}),
    ("UC6471", _LISTENER, {"Protocol": "HTTPS", "SslPolicy": "ELBSecurityPolicy-TLS13-1-2-2021-06"}),
    ("UC6471", _LISTENER, {"Protocol": "HTTP", "DefaultActions": [{"Type": "redirect"}]}),
    ("UC6471", "ECS::TaskDefinition", {"Volumes": [{"Name": "scratch"}]}),
    ("UC6471", "EC2::LaunchTemplate", _fetch("https://drivers.example.com")),
    ("UC6471", "EC2::LaunchTemplate", _fetch("http://169.254.169.254/latest")),
    ("UC5204", "SQS::Queue", {"SqsManagedSseEnabled": False, "KmsMasterKeyId": "alias/messages"}),
    ("UC5204", "RDS::DBInstance", {"DBClusterIdentifier": "runs"}),
    ("UC6410", "ECS::TaskDefinition", {"ContainerDefinitions": [{"Privileged": {"Ref": "Unknown"}}]}),
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/data"}}]}}),
)  # fmt: skip


def codes(kind: str, properties: dict[str, Any]) -> set[str]:
    body = {"Resources": {"It": {"Type": f"AWS::{kind}", "Properties": properties}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(("code", "kind", "properties"), BROKEN)
def test_an_unsafe_setting_breaks_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code in codes(kind, properties)


@pytest.mark.parametrize(("code", "kind", "properties"), KEPT)
def test_a_safe_or_unknown_setting_keeps_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code not in codes(kind, properties)
