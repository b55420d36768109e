"""The IAM path of roles: where an organization wants those that a deployment makes."""

import aws_cdk as cdk
import jsii
from constructs import IConstruct

from ultracluster_rules.findings import FindingsError
from ultracluster_rules.names import ROLE_PATH

__all__ = ["RolePath"]

_HAVE_PATHS = {"AWS::IAM::InstanceProfile", "AWS::IAM::ManagedPolicy", "AWS::IAM::Role"}


@jsii.implements(cdk.IAspect)
class RolePath:
    """Puts every role, instance profile and managed policy of a scope under one IAM path.

    Also those that the CDK itself defines there. A permissions boundary needs nothing of ours: `aws_cdk.PermissionsBoundary`
    reaches every role. IAM cannot move a role: a new path in an existing deployment replaces its roles, and with them the
    nodes and job definitions that name them.

    Example::

        cdk.Aspects.of(stack).add(RolePath("/training/"))
    """

    def __init__(self, path: str) -> None:
        """Take the path.

        Args:
            path: It begins and ends with a slash, such as ``/training/``; up to five names.

        Raises:
            FindingsError: If it is no path of IAM (UC2261).
        """
        if findings := ROLE_PATH.check(path, path="path"):
            raise FindingsError(findings)
        self._path = path

    def visit(self, node: IConstruct) -> None:
        """Give a resource the path, if it is of a type that has one.

        Args:
            node: The construct.
        """
        if isinstance(node, cdk.CfnResource) and node.cfn_resource_type in _HAVE_PATHS:
            node.add_property_override("Path", self._path)
