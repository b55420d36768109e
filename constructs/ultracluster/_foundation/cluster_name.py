"""Name of the cluster that a construct belongs to, used in metrics, tags and budgets."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from aws_cdk import Stack, Stage, Tags
from constructs import Construct, IConstruct

from ultracluster._foundation.tokens import is_known
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_spec.capacity import refuse_shared_block
from ultracluster_spec.findings import Finding, is_token, quote, require

_CONTEXT = "ultracluster:cluster"
_NAME: Final = "UC2160"

# CloudFormation replaces a resource of these types when its tags change. It applies the tags of a stack to all resources,
# compute environments among them (aws-cloudformation/cloudformation-coverage-roadmap#2270), so that stacks get none either.
_TAGS_AT_CREATION = ["AWS::Batch::ComputeEnvironment", "AWS::EC2::PlacementGroup", "aws:cdk:stack"]

# The paths of the clusters of each app by what each of them has for itself: name or block, account and Region.
_CLAIMED: Final[WeakKeyDictionary[IConstruct, dict[tuple[str, ...], str]]] = WeakKeyDictionary()


def name_cluster(scope: Construct, name: str) -> None:
    """Set the cluster name, unique in its account and Region, for constructs to be added to a scope without children."""
    scope.node.set_context(_CONTEXT, name)


def cluster_name(scope: Construct) -> str:
    """Return the name of the cluster that a construct belongs to; by default, the name of its stack.

    CloudFormation generates the name of a nested stack at deployment, so that the outermost stack gives it.
    """
    if name := scope.node.try_get_context(_CONTEXT):
        return str(name)
    stack = Stack.of(scope)
    while stack.nested_stack_parent:
        stack = stack.nested_stack_parent
    return stack.stack_name


def check_one_name(name: str | None, tag: str | None) -> list[Finding]:
    """Check that the argument and the tag, if both are given, name the cluster alike."""
    return require(
        None in {name, tag} or name == tag,
        _NAME,
        f"got {quote(name)}, and the tag {CLUSTER_TAG} names the cluster {quote(tag)}",
        remedy="Remove the tag",
        path="cluster_name",
    )


def check_name_is_free(scope: Construct, construct_id: str, name: str) -> list[Finding]:
    """Check that no other cluster of the app, account and Region has a name."""
    other = _owner(scope, construct_id, name)
    own = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{name}-{construct_id}")
    return require(
        other is None,
        _NAME,
        f"{quote(name)} is the name of the cluster {quote(other)} already, and metrics, alarms, tags, budgets and commands "
        "would take both for one",
        allowed="a name that no other cluster of the account and Region has",
        remedy=f'Set cluster_name, such as "{own}"',
        path="cluster_name",
    )


def check_block_is_free(
    scope: Construct, construct_id: str, reservation_id: str, *, path: str
) -> list[Finding]:
    """Check that no other cluster of the app, account and Region has a Capacity Block."""
    other = _owner(scope, construct_id, reservation_id) if is_known(reservation_id) else None
    return [] if other is None else [refuse_shared_block(reservation_id, quote(other), path=path)]


def claim(cluster: Construct, name: str, blocks: Sequence[str]) -> None:
    """Take a name and Capacity Blocks for a cluster; others of its app, account and Region cannot have them."""
    node, place = cluster.node, _place(cluster)
    path = node.path
    _CLAIMED.setdefault(node.root, {}).update({(each, *place): path for each in (name, *blocks)})


def _owner(scope: Construct, construct_id: str, claimed: str) -> str | None:
    """Return the path of another cluster that has claimed something, unless the app has removed it since."""
    root = scope.node.root
    path = _CLAIMED.get(root, {}).get((claimed, *_place(scope)))
    # The CDK refuses a second construct at the same path itself.
    if path is None or path == "/".join(filter(None, (scope.node.path, construct_id))):
        return None
    found: IConstruct | None = root
    for part in path.split("/"):
        found = found.node.try_find_child(part) if found else None
    return path if found else None


def _place(scope: Construct) -> tuple[str, ...]:
    """Return where something is unique; what is not known of account and Region is the same for all stacks of a stage."""
    stack, stage = Stack.of(scope), Stage.of(scope)
    unknown = stage.node.path if stage else ""
    return tuple(unknown if is_token(each) else each for each in (stack.account, stack.region))


def tag_resources(scope: Construct, name: str, tags: Mapping[str, str] | None = None) -> None:
    """Tag the resources of a cluster with its name, by which budgets and `ultracluster cost actual` find its cost."""
    for key, value in sorted({CLUSTER_TAG: name, **(tags or {})}.items()):
        Tags.of(scope).add(key, value, exclude_resource_types=_TAGS_AT_CREATION)
