"""A template that deploys the exported ones to the accounts of an organization, as service-managed StackSets."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["stack_set_template"]


def stack_set_template(
    cluster: str, templates: Sequence[tuple[str, Mapping[str, Any]]], *, region: str
) -> dict[str, Any]:
    """Give the template with a StackSet for each template of a cluster, in their order.

    It is deployed in the management account or, with ``CallAs`` as it stands, by a delegated administrator.

    Args:
        cluster: Name of the cluster's stage, such as ``training-a-us-east-2``; the StackSets are named after it.
        templates: Part and exported template of each stack, in the order of deployment.
        region: Default of the Regions.
    """
    own = {
        "TemplateBaseUrl": {
            "Type": "String",
            "AllowedPattern": "https://[^?]*[^/?]",
            "Description": "Address of the folder with the templates in a bucket, without a slash at its end.",
        },
        "OrganizationalUnitIds": {
            "Type": "CommaDelimitedList",
            "Description": "Organizational units whose accounts get the cluster.",
        },
        "Regions": {
            "Type": "CommaDelimitedList",
            "Default": region,
            "Description": "Regions, one after the other. Parameters hold for all of them: a reservation exists in one only.",
        },
        "CallAs": {
            "Type": "String",
            "Default": "DELEGATED_ADMIN",
            "AllowedValues": ["DELEGATED_ADMIN", "SELF"],
            "Description": "SELF in the management account.",
        },
    }
    passed = {
        name: parameter
        for _, template in templates
        for name, parameter in (template.get("Parameters") or {}).items()
    }
    # The type of an image would be looked up in this account, not where the nodes are.
    passed = {
        name: {**parameter, "Type": "String"} if parameter["Type"] == "AWS::EC2::Image::Id" else parameter
        for name, parameter in passed.items()
    }
    resources: dict[str, Any] = {}
    for part, template in templates:
        before = list(resources)[-1:]
        resources[part] = _stack_set(f"{cluster}-{part}", part, template, after=before)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The cluster {cluster} as service-managed StackSets",
        "Parameters": own | passed,
        "Resources": resources,
    }


def _stack_set(name: str, part: str, template: Mapping[str, Any], *, after: Sequence[str]) -> dict[str, Any]:
    parameters = [
        {"ParameterKey": each, "ParameterValue": {"Ref": each}} for each in template.get("Parameters") or {}
    ]
    return {
        "Type": "AWS::CloudFormation::StackSet",
        **({"DependsOn": list(after)} if after else {}),
        "Properties": {
            "StackSetName": name,
            "PermissionModel": "SERVICE_MANAGED",
            "CallAs": {"Ref": "CallAs"},
            # An account that joins a unit has no reservation of ours.
            "AutoDeployment": {"Enabled": False},
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
            "ManagedExecution": {"Active": True},
            "OperationPreferences": {
                "FailureToleranceCount": 0,
                "MaxConcurrentCount": 1,
                "RegionConcurrencyType": "SEQUENTIAL",
            },
            "TemplateURL": {"Fn::Sub": f"${{TemplateBaseUrl}}/{part.lower()}.template.json"},
            **({"Parameters": parameters} if parameters else {}),
            "StackInstancesGroup": [
                {
                    "DeploymentTargets": {"OrganizationalUnitIds": {"Ref": "OrganizationalUnitIds"}},
                    "Regions": {"Ref": "Regions"},
                }
            ],
        },
    }
