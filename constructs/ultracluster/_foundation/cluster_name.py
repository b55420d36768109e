"""Name of the cluster that a construct belongs to, used in metrics, tags and budgets."""

from collections.abc import Mapping

from aws_cdk import Stack, Tags
from constructs import Construct

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG

_CONTEXT = "ultracluster:cluster"

# CloudFormation replaces a resource of these types when its tags change. It applies the tags of a stack to all resources,
# compute environments among them (aws-cloudformation/cloudformation-coverage-roadmap#2270), so that stacks get none either.
_TAGS_AT_CREATION = ["AWS::Batch::ComputeEnvironment", "AWS::EC2::PlacementGroup", "aws:cdk:stack"]


def name_cluster(scope: Construct, name: str) -> None:
    """Set the cluster name, unique in its account and Region, for constructs to be added to a scope without children."""
    scope.node.set_context(_CONTEXT, name)


def cluster_name(scope: Construct) -> str:
    """Return the name of the cluster that a construct belongs to; by default, the name of its stack."""
    return str(scope.node.try_get_context(_CONTEXT) or Stack.of(scope).stack_name)


def tag_resources(scope: Construct, name: str, tags: Mapping[str, str] | None = None) -> None:
    """Tag the resources of a cluster with its name, by which budgets and `ultracluster cost actual` find its cost."""
    for key, value in sorted({CLUSTER_TAG: name, **(tags or {})}.items()):
        Tags.of(scope).add(key, value, exclude_resource_types=_TAGS_AT_CREATION)
