"""IAM path of the roles of a deployment."""

import aws_cdk as cdk
import jsii
from constructs import IConstruct

from ultracluster_spec.findings import reject
from ultracluster_spec.names import ROLE_PATH

_HAVE_PATHS = {"AWS::IAM::InstanceProfile", "AWS::IAM::ManagedPolicy", "AWS::IAM::Role"}


@jsii.implements(cdk.IAspect)
class RolePath:
    """An aspect that sets the IAM path of every role, instance profile and managed policy in a scope.

    This includes resources that the CDK defines itself. For a permissions boundary, use `aws_cdk.PermissionsBoundary`, which
    applies to every role. IAM cannot move a role: changing the path of an existing deployment replaces its roles, and with
    them the nodes and job definitions that refer to them.

    Example::

        cdk.Aspects.of(stack).add(RolePath("/training/"))
    """

    def __init__(self, path: str) -> None:
        """Create the aspect.

        Args:
            path: IAM path with a slash at both ends, such as ``/training/``; up to five names.

        Raises:
            FindingsError: If it is not a valid IAM path (UC2261).
        """
        reject(ROLE_PATH.check(path, path="path"))
        self._path = path

    def visit(self, node: IConstruct) -> None:
        """Set the path of a resource, if its type has one.

        Args:
            node: Construct to visit.
        """
        if isinstance(node, cdk.CfnResource) and node.cfn_resource_type in _HAVE_PATHS:
            node.add_property_override("Path", self._path)
