"""A template that deploys exported templates to accounts of an organization as service-managed StackSets."""

from collections.abc import Mapping, Sequence
from typing import Any


def stack_set_template(
    cluster: str, templates: Sequence[tuple[str, Mapping[str, Any]]], *, region: str
) -> dict[str, Any]:
    """Return a template with one StackSet per template of a cluster, in order of deployment.

    Deploy it in the management account or, with the default of ``CallAs``, as a delegated administrator.
    """
    stack_set_parameters = {
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
    cluster_parameters = {
        name: parameter
        for _, template in templates
        for name, parameter in (template.get("Parameters") or {}).items()
    }
    # AWS::EC2::Image::Id would be validated in this account and Region, not in the target.
    cluster_parameters = {
        name: {**parameter, "Type": "String"} if parameter["Type"] == "AWS::EC2::Image::Id" else parameter
        for name, parameter in cluster_parameters.items()
    }
    resources: dict[str, Any] = {}
    for part, template in templates:
        before = list(resources)[-1:]
        resources[part] = _stack_set(f"{cluster}-{part}", part, template, after=before)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The cluster {cluster} as service-managed StackSets",
        "Parameters": stack_set_parameters | cluster_parameters,
        "Resources": resources,
    }


def _stack_set(name: str, part: str, template: Mapping[str, Any], *, after: Sequence[str]) -> dict[str, Any]:
    parameters = [
        {"ParameterKey": key, "ParameterValue": {"Ref": key}} for key in template.get("Parameters") or {}
    ]
    return {
        "Type": "AWS::CloudFormation::StackSet",
        **({"DependsOn": list(after)} if after else {}),
        "Properties": {
            "StackSetName": name,
            "PermissionModel": "SERVICE_MANAGED",
            "CallAs": {"Ref": "CallAs"},
            # An account that joins the unit has no reservation for the nodes.
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
