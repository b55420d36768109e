"""Launch templates, stored unchanged.

moto adds the tags of the template itself to the tags of its instances, and pads or drops user data in later
versions; a launch template must be read back exactly as submitted.
"""

import copy
import sys
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.ec2.user_data import check_user_data
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, page, tags_of

__all__ = [
    "check_reservation",
    "handlers",
    "launch_templates",
    "template_data",
    "template_tags",
]

handlers = Handlers(service="ec2")

_VERSIONS_OF_ALL = (  # AWS's words, quotes included: getmoto/moto, test_launch_templates.py, verified against AWS
    "To describe the launch template data for all your launch templates, for \u2018--versions\u2019 specify \u2018$Latest\u2019, "
    "\u2018$Default\u2019, or both, and omit \u2018--launch-template-id\u2019, \u2018--launch-template-name\u2019, and version numbers. To "
    "describe the launch template data for a specific launch template, specify \u2018--launch-template-id\u2019 or "
    "\u2018--launch-template-name\u2019, and for \u2018--versions\u2019 specify one or more of the following values: \u2018$Latest\u2019, "
    "\u2018$Default\u2019, or one or more version numbers."
)


def launch_templates(region: str) -> dict[str, dict[str, Any]]:
    """Return the launch templates of a Region by ID."""
    return region_state("ec2:launch-templates", region=region, new=dict)


def _find(request: Request) -> dict[str, Any]:
    wanted_id = request.parameters.get("LaunchTemplateId")
    wanted_name = request.parameters.get("LaunchTemplateName")
    for template in launch_templates(request.region).values():
        if template["LaunchTemplateId"] == wanted_id or template["LaunchTemplateName"] == wanted_name:
            return template
    if wanted_id:
        raise ServiceError(
            "InvalidLaunchTemplateId.NotFound",
            f"The specified launch template, with template ID {wanted_id}, does not exist.",
        )
    raise ServiceError(
        "InvalidLaunchTemplateName.NotFoundException",
        f"The specified launch template, with template name {wanted_name}, does not exist.",
    )


def _summary(template: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in template.items() if key != "Versions"}


def _add_version(template: dict[str, Any], request: Request) -> dict[str, Any]:
    data: dict[str, Any] = {}
    source = request.parameters.get("SourceVersion")
    if source is not None:
        data = copy.deepcopy(_version(template, source)["LaunchTemplateData"])
    data |= request.parameters.get("LaunchTemplateData") or {}
    _check_data(data)
    version = {
        "LaunchTemplateId": template["LaunchTemplateId"],
        "LaunchTemplateName": template["LaunchTemplateName"],
        "VersionNumber": template["LatestVersionNumber"] + 1,
        "CreateTime": CLOCK.now(),
        "CreatedBy": f"arn:aws:iam::{request.account}:root",
        "LaunchTemplateData": data,
    }
    if "VersionDescription" in request.parameters:
        version["VersionDescription"] = request.parameters["VersionDescription"]
    template["LatestVersionNumber"] += 1
    template["Versions"].append(version)
    return version


def _check_data(data: Mapping[str, Any]) -> None:
    """Refuse data that EC2 refuses in a template; it finds most faults at the launch only (API_RequestLaunchTemplateData)."""
    if data.get("UserData"):
        # hashicorp/terraform-provider-aws#49234, 2026-07-31
        check_user_data(data["UserData"], too_long="InvalidUserData.Malformed")
    if data.get("InstanceType") and data.get("InstanceRequirements"):
        raise invalid_combination(
            "InstanceType and InstanceRequirements cannot be specified together",
        )
    if not all(one.get("ResourceType") for one in data.get("TagSpecifications") or []):
        problem = "The resource type cannot be null or empty."
        raise ServiceError("InvalidTagSpecification.Malformed", problem)
    check_reservation(data)  # hashicorp/terraform-provider-aws#43881: already by the template


def check_reservation(data: Mapping[str, Any]) -> None:
    """Refuse a preference beside a target, unless it is ``capacity-reservations-only``.

    API_CapacityReservationSpecification (read 2026-11); the words are those of hashicorp/packer#12912.

    Raises:
        ServiceError: If there are both.
    """
    reservation = data.get("CapacityReservationSpecification") or {}
    preference = reservation.get("CapacityReservationPreference") or "capacity-reservations-only"
    if reservation.get("CapacityReservationTarget") and preference != "capacity-reservations-only":
        raise invalid_combination(
            "The request can include either a CapacityReservationId or a CapacityReservationPreference but not both.",
        )


def _version(template: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    number = {"$Latest": template["LatestVersionNumber"], "$Default": template["DefaultVersionNumber"]}.get(
        wanted
    )
    number = int(wanted) if number is None and str(wanted).isdigit() else number
    for version in template["Versions"]:
        if version["VersionNumber"] == number:
            found: dict[str, Any] = version
            return found
    raise ServiceError(
        "InvalidLaunchTemplateId.VersionNotFound",
        # getmoto/moto, test_launch_templates.py, verified against AWS
        f"Could not find the specified version {wanted} for the launch template with ID {template['LaunchTemplateId']}.",
    )


def _shown(template: Mapping[str, Any], version: Mapping[str, Any]) -> dict[str, Any]:
    return {**version, "DefaultVersion": version["VersionNumber"] == template["DefaultVersionNumber"]}


def template_data(region: str, specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the launch template data for a launch by ID or name, and by version (default: the default version).

    Raises:
        ServiceError: If there is none.
    """
    data: dict[str, Any] = _version_of(region, specification)["LaunchTemplateData"]
    return copy.deepcopy(data)


def _version_of(region: str, specification: Mapping[str, Any]) -> dict[str, Any]:
    template = _find(Request(operation="", parameters=specification, region=region))
    return _version(template, specification.get("Version") or "$Default")


def template_tags(region: str, specification: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags that EC2 gives to an instance from a launch template.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/use-launch-templates-to-control-launching-instances.html (2026-11)

    Raises:
        ServiceError: If there is none.
    """
    version = _version_of(region, specification)
    return {
        "aws:ec2launchtemplate:id": version["LaunchTemplateId"],
        "aws:ec2launchtemplate:version": str(version["VersionNumber"]),
    }


@handlers("CreateLaunchTemplate")
def create_launch_template(request: Request) -> Mapping[str, Any]:
    """Create a launch template with version 1; its name is unique in the Region."""
    name = request.parameters["LaunchTemplateName"]
    if not request.parameters.get("LaunchTemplateData"):
        raise ServiceError("MissingParameter", "The request must contain the parameter LaunchTemplateData")
    templates = launch_templates(request.region)
    if any(template["LaunchTemplateName"] == name for template in templates.values()):
        raise ServiceError(
            "InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use."
        )
    template: dict[str, Any] = {
        "LaunchTemplateId": hex_id("lt"),
        "LaunchTemplateName": name,
        "CreateTime": CLOCK.now(),
        "CreatedBy": f"arn:aws:iam::{request.account}:root",
        "DefaultVersionNumber": 1,
        "LatestVersionNumber": 0,
        "Tags": tags_of(request.parameters, resource_type="launch-template"),
        "Versions": [],
    }
    _add_version(template, request)
    templates[template["LaunchTemplateId"]] = template
    return {"LaunchTemplate": _summary(template)}


@handlers("CreateLaunchTemplateVersion")
def create_launch_template_version(request: Request) -> Mapping[str, Any]:
    """Add a version; the default version does not change."""
    template = _find(request)
    return {"LaunchTemplateVersion": _shown(template, _add_version(template, request))}


@handlers("ModifyLaunchTemplate")
def modify_launch_template(request: Request) -> Mapping[str, Any]:
    """Set the default version."""
    if request.parameters.get("LaunchTemplateId") and request.parameters.get("LaunchTemplateName"):
        raise ServiceError(  # getmoto/moto, test_launch_templates.py, verified against AWS
            "InvalidParameterCombination",
            "Either provide launch template ID or launch template name to modify the template.",
        )
    template, wanted = _find(request), request.parameters["DefaultVersion"]
    try:
        template["DefaultVersionNumber"] = _version(template, wanted)["VersionNumber"]
    except ServiceError as error:  # the same test
        problem = f"The launch template version {wanted} is not found for the specified launch template."
        raise ServiceError(error.code, problem) from None
    return {"LaunchTemplate": _summary(template)}


@handlers("DeleteLaunchTemplate")
def delete_launch_template(request: Request) -> Mapping[str, Any]:
    """Delete a template with all its versions."""
    template = _find(request)
    del launch_templates(request.region)[template["LaunchTemplateId"]]
    return {"LaunchTemplate": _summary(template)}


@handlers("DeleteLaunchTemplateVersions")
def delete_launch_template_versions(request: Request) -> Mapping[str, Any]:
    """Delete versions; the default version cannot be deleted."""
    template = _find(request)
    done, failed = [], []
    for wanted in request.parameters["Versions"]:
        place = {
            "LaunchTemplateId": template["LaunchTemplateId"],
            "LaunchTemplateName": template["LaunchTemplateName"],
            "VersionNumber": int(wanted),
        }
        problem = {}
        try:
            version = _version(template, wanted)
        except ServiceError as error:  # API_ResponseError
            problem = {"Code": "launchTemplateVersionDoesNotExist", "Message": error.message}
        if int(wanted) == template["DefaultVersionNumber"]:
            message = "Cannot delete the default launch template version"
            problem = {"Code": "launchTemplateVersionInUse", "Message": message}
        if problem:
            failed.append({**place, "ResponseError": problem})
        else:
            template["Versions"].remove(version)
            done.append(place)
    return {
        "SuccessfullyDeletedLaunchTemplateVersions": done,
        "UnsuccessfullyDeletedLaunchTemplateVersions": failed,
    }


@handlers("DescribeLaunchTemplates")
def describe_launch_templates(request: Request) -> Mapping[str, Any]:
    """Describe all launch templates, or the named ones."""
    ids = request.parameters.get("LaunchTemplateIds") or []
    names = request.parameters.get("LaunchTemplateNames") or []
    known = list(launch_templates(request.region).values())
    for wanted in ids:
        if all(template["LaunchTemplateId"] != wanted for template in known):
            raise ServiceError(
                "InvalidLaunchTemplateId.NotFound",
                f"The specified launch template, with template ID {wanted}, does not exist.",
            )
    if not {*names} <= {template["LaunchTemplateName"] for template in known}:
        raise ServiceError(  # getmoto/moto, test_launch_templates.py, verified against AWS
            "InvalidLaunchTemplateName.NotFoundException",
            "At least one of the launch templates specified in the request does not exist.",
        )
    shown = [
        _summary(template)
        for template in known
        if not (ids or names)
        or template["LaunchTemplateId"] in ids
        or template["LaunchTemplateName"] in names
    ]
    return page(shown, parameters=request.parameters, key="LaunchTemplates")


@handlers("DescribeLaunchTemplateVersions")
def describe_launch_template_versions(request: Request) -> Mapping[str, Any]:
    """Describe versions of one launch template, or the ``$Latest`` or ``$Default`` version of all."""
    wanted = request.parameters.get("Versions") or []
    if "LaunchTemplateId" in request.parameters or "LaunchTemplateName" in request.parameters:
        templates = [_find(request)]
    else:
        if not wanted:
            raise ServiceError("MissingParameter", _VERSIONS_OF_ALL)
        if not {*wanted} <= {"$Latest", "$Default"}:
            raise invalid_value(_VERSIONS_OF_ALL)
        templates = list(launch_templates(request.region).values())
    least = int(request.parameters.get("MinVersion") or 1)
    most = int(request.parameters.get("MaxVersion") or sys.maxsize)
    shown = []
    for template in templates:
        between = [one for one in template["Versions"][::-1] if least <= one["VersionNumber"] <= most]
        versions = [_version(template, one) for one in wanted] if wanted else between
        shown += [_shown(template, version) for version in versions]
    return page(shown, parameters=request.parameters, key="LaunchTemplateVersions", default=200)
