"""Amazon ECR as far as moto lacks it: pull through cache rules, and layers. Nothing is pulled, and no layer is kept."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page
from ultracluster_local.services.iam.policy_grammar import document, missing_principal

__all__ = ["handlers"]

handlers = Handlers(service="ecr")


def _rules(request: Request) -> dict[str, dict[str, Any]]:
    return region_state("ecr:cache-rules", region=request.region, new=dict)


def _rule(request: Request, prefix: str) -> dict[str, Any]:
    try:
        return _rules(request)[prefix]
    except KeyError:
        raise ServiceError(
            "PullThroughCacheRuleNotFoundException", f"The pull through cache rule '{prefix}' does not exist"
        ) from None


@handlers("CreatePullThroughCacheRule")
def create_pull_through_cache_rule(request: Request) -> Mapping[str, Any]:
    """Create a rule; a prefix has at most one."""
    prefix = request.parameters["ecrRepositoryPrefix"]
    if prefix in _rules(request):
        raise ServiceError(
            "PullThroughCacheRuleAlreadyExistsException",
            f"The pull through cache rule '{prefix}' already exists",
        )
    rule = {"registryId": request.account, "createdAt": CLOCK.now(), **request.parameters}
    _rules(request)[prefix] = rule
    return rule


@handlers("DescribePullThroughCacheRules")
def describe_pull_through_cache_rules(request: Request) -> Mapping[str, Any]:
    """Describe all rules, or the named ones."""
    wanted = request.parameters.get("ecrRepositoryPrefixes")
    shown = [_rule(request, one) for one in wanted] if wanted else list(_rules(request).values())
    return page(shown, parameters=request.parameters, key="pullThroughCacheRules", cursor="nextToken")


@handlers("DeletePullThroughCacheRule")
def delete_pull_through_cache_rule(request: Request) -> Mapping[str, Any]:
    """Delete a rule; cached images stay."""
    rule = _rule(request, request.parameters["ecrRepositoryPrefix"])
    del _rules(request)[rule["ecrRepositoryPrefix"]]
    return rule


@handlers("GetDownloadUrlForLayer")
def get_download_url_for_layer(request: Request) -> Mapping[str, Any]:
    """Refuse the request: the registry keeps images by name and digest, without layers."""
    digest, repository = request.parameters["layerDigest"], request.parameters["repositoryName"]
    raise ServiceError(
        "LayersNotFoundException",
        f"The layer with digest '{digest}' does not exist in the repository with name '{repository}' in the registry "
        f"with id '{request.account}'",
    )


_check = Checks(service="ecr")


@_check("SetRepositoryPolicy")
def check_set_repository_policy(request: Request) -> None:
    """Refuse an invalid policy, or one that names a principal that does not exist.

    The words are those of terraform-aws-modules/terraform-aws-ecr#19 (2023-10-12).
    """
    policy = document(request.parameters["policyText"])
    if policy is None or "Statement" not in policy or missing_principal(policy):
        problem = "Invalid parameter at 'PolicyText' failed to satisfy constraint: 'Invalid repository policy provided'"
        raise ServiceError("InvalidParameterException", problem)
