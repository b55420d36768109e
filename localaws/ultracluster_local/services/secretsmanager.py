"""Secrets Manager: names, secrets marked for deletion and stages, as AWS refuses them.

The words are those that AWS answered to localstack/localstack, tests/aws/services/secretsmanager (2022 to 2026).
"""

from typing import Any

from moto.secretsmanager.models import secretsmanager_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="secretsmanager")


def _secret(request: Request) -> Any:
    wanted = request.parameters["SecretId"]
    return secretsmanager_backends[ACCOUNT][request.region].secrets.get(wanted)


def _invalid(message: str) -> ServiceError:
    return ServiceError("InvalidRequestException", message)


@_check("CreateSecret")
def check_create_secret(request: Request) -> None:
    """Refuse a name whose secret is marked for deletion."""
    name = request.parameters["Name"]
    kept = secretsmanager_backends[ACCOUNT][request.region].secrets.get(name)
    if kept is not None and kept.deleted_date is not None:
        raise _invalid(
            "You can't create this secret because a secret with this name is already scheduled for deletion."
        )


@_check("TagResource", "UntagResource", "PutSecretValue", "UpdateSecret", "GetSecretValue")
def check_marked(request: Request) -> None:
    """Refuse operations on a secret that is marked for deletion."""
    kept = _secret(request)
    if kept is not None and kept.deleted_date is not None:
        raise _invalid("You can't perform this operation on the secret because it was marked for deletion.")


@_check("GetSecretValue")
def check_get_secret_value(request: Request) -> None:
    """Refuse a stage that no version of the secret has."""
    kept, stage = _secret(request), request.parameters.get("VersionStage")
    if kept is None or not stage or request.parameters.get("VersionId"):
        return
    if not any(stage in version["version_stages"] for version in kept.versions.values()):
        problem = f"Secrets Manager can't find the specified secret value for staging label: {stage}"
        raise ServiceError("ResourceNotFoundException", problem)
