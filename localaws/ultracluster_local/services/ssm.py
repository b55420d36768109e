"""SSM parameters: names that are reserved, and values that are too long.

https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
"""

import re

from moto.ec2.models import ec2_backends
from moto.ssm.models import ssm_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="ssm")

_LONGEST_VALUE = {"Standard": 4096, "Advanced": 8192, "Intelligent-Tiering": 8192}


def _check_change(request: Request) -> None:
    """Refuse another type or a lower tier than a parameter has: API_PutParameter (Tier, HierarchyTypeMismatchException)."""
    parameters = ssm_backends[ACCOUNT][request.region]._parameters  # noqa: SLF001 - moto counts reads of others
    versions = parameters.get(request.parameters["Name"])
    if not versions or not request.parameters.get("Overwrite"):
        return
    if request.parameters.get("Type", versions[-1].parameter_type) != versions[-1].parameter_type:
        problem = "Parameter Store doesn't support changing a parameter type in a hierarchy."
        raise ServiceError("HierarchyTypeMismatchException", problem)
    if versions[-1].tier == "Advanced" and request.parameters.get("Tier") == "Standard":
        problem = "This parameter uses the advanced-parameter tier. You can't downgrade it to the standard-parameter tier."
        raise ServiceError("ValidationException", problem)


@_check("PutParameter")
def check_put_parameter(request: Request) -> None:
    """Refuse another type or tier than a parameter has, and what does not fit its type or its tier."""
    _check_change(request)
    value, pattern = request.parameters["Value"], request.parameters.get("AllowedPattern")
    if pattern and not re.search(pattern, value):
        problem = f"Parameter value, cannot be validated against allowedPattern: {pattern}"
        raise ServiceError("ParameterPatternMismatchException", problem)
    if request.parameters.get("KeyId") and request.parameters.get("Type", "SecureString") != "SecureString":
        raise ServiceError("ValidationException", "KeyId is required for SecureString type parameter only.")
    if request.parameters.get("Policies") and request.parameters.get("Tier", "Standard") == "Standard":
        problem = "Parameter policies are supported by the advanced-parameter tier only."
        raise ServiceError("ValidationException", problem)
    tier = request.parameters.get("Tier", "Standard")
    longest = _LONGEST_VALUE.get(tier)
    if longest is None or len(value) <= longest:
        return
    if tier != "Standard":
        problem = f"Advanced tier parameters support a maximum parameter value of {longest} characters."
        raise ServiceError("ValidationException", problem)
    guide = "https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html"
    raise ServiceError(  # hashicorp/terraform-provider-aws#18521 (2021-06-11)
        "ValidationException",
        f"Standard tier parameters support a maximum parameter value of {longest} characters. To create a larger "
        f"parameter value, upgrade the parameter to use the advanced-parameter tier. For more information, see {guide}",
    )


@_check("SendCommand")
def check_send_command(request: Request) -> None:
    """Refuse instances that are not there: aws-samples/eks-security-compromised-cluster-remediation#12 (2021-11-12)."""
    wanted = request.parameters.get("InstanceIds") or []
    known = {one.id for one in ec2_backends[ACCOUNT][request.region].all_instances()} if wanted else set()
    if absent := [one for one in wanted if one not in known and not one.startswith("mi-")]:
        problem = f"Instances [[{', '.join(absent)}]] not in a valid state for account {ACCOUNT}"
        raise ServiceError("InvalidInstanceId", problem)


@_check("GetCommandInvocation")
def check_get_command_invocation(request: Request) -> None:
    """Refuse a command that was not sent to the instance: API_GetCommandInvocation."""
    sent = ssm_backends[ACCOUNT][request.region]._commands  # noqa: SLF001 - moto's look-up has another error
    if not any(
        one.command_id == request.parameters["CommandId"]
        and request.parameters["InstanceId"] in one.instance_ids
        for one in sent
    ):
        raise ServiceError("InvocationDoesNotExist", "")
