"""Amazon ECR as far as moto lacks it: pull through cache rules, and layers. Nothing is pulled, and no layer is kept."""

from collections.abc import Mapping
from typing import Any

from moto.ecr.models import ecr_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
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

# badmintoncryer/cdk-preflight
_NO_POLICY = "parsing failure: Could not map policyString into LifecyclePolicy"


@_check("SetRepositoryPolicy")
def check_set_repository_policy(request: Request) -> None:
    """Refuse an invalid policy, or one that names a principal that does not exist.

    The words are those of terraform-aws-modules/terraform-aws-ecr#19 (2023-10-12).
    """
    policy = document(request.parameters["policyText"])
    if policy is None or "Statement" not in policy or missing_principal(policy):
        problem = "Invalid parameter at 'PolicyText' failed to satisfy constraint: 'Invalid repository policy provided'"
        raise ServiceError("InvalidParameterException", problem)


@_check("PutLifecyclePolicy")
def check_put_lifecycle_policy(request: Request) -> None:
    """Refuse rules that cannot be evaluated together.

    https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html (read 2026-11-22).
    """
    policy = document(request.parameters["lifecyclePolicyText"])
    rules = (policy or {}).get("rules") or []
    selections = [
        (rule.get("rulePriority", 0), rule.get("selection") or {})
        for rule in rules
        if isinstance(rule, Mapping)
    ]
    statuses = [one.get("tagStatus") for _, one in selections]
    first = {one.get("tagStatus"): priority for priority, one in reversed(selections)}
    priorities, problem = [priority for priority, _ in selections], ""
    # badmintoncryer/cdk-preflight, rules/ecr (2026-09)
    if policy is not None and len({*priorities}) < len(priorities):
        problem = "Duplicate priority in multiple rules"
    elif any(
        one.get("tagStatus") == "tagged" and not (one.get("tagPrefixList") or one.get("tagPatternList"))
        for _, one in selections
    ):
        problem = "Must specify tagPrefixList or tagPatternList when tagStatus=TAGGED."
    elif statuses.count("untagged") > 1:
        problem = "Only one rule can select Untagged images per storage class."
    elif "any" in statuses and first["any"] < max(priority for priority, _ in selections):
        problem = "Rule for tagStatus=ANY must have the lowest priority per storage class"
    if problem or policy is None:
        what = f"validation failure:\n{problem}" if problem else _NO_POLICY
        raise ServiceError(
            "InvalidParameterException",
            f"Invalid parameter at 'LifecyclePolicyText' failed to satisfy constraint: 'Lifecycle policy {what}'",
        )


@_check("PutImage")
def check_put_image(request: Request) -> None:
    """Refuse a tag that exists in a repository whose tags are immutable."""
    name, tag = request.parameters["repositoryName"], request.parameters.get("imageTag")
    repository = ecr_backends[ACCOUNT][request.region].repositories.get(name)
    if repository is None or not tag or repository.image_tag_mutability != "IMMUTABLE":
        return
    text = request.parameters["imageManifest"]
    if any(tag in image.image_tags and image.image_manifest != text for image in repository.images):
        problem = "cannot be overwritten because the repository is immutable."
        raise ServiceError(
            "ImageTagAlreadyExistsException",
            f"The image tag '{tag}' already exists in the '{name}' repository and {problem}",
        )
