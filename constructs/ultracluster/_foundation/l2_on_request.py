"""An L2 construct in the place of an L1 one, when somebody asks for it."""

from collections.abc import Callable
from typing import TypeVar, cast

from aws_cdk import CfnElement, Resource
from constructs import Construct

__all__ = ["l2_in_place_of"]

L2 = TypeVar("L2", bound=Resource)


def l2_in_place_of(element: CfnElement, *, scope: Construct, construct_id: str, make: Callable[[], L2]) -> L2:
    """Replace an L1 construct by the L2 one of the same path, so that the template stays as it is.

    An L1 construct takes less than half the time, and few people ask for the L2 one. Who does gets a whole one, and not what the
    CDK imports, which takes no managed policy and no resource policy.

    Args:
        element: The L1 construct. What refers to it refers to the new one afterwards.
        scope: Where it is.
        construct_id: The id there of the construct that holds it.
        make: Makes the L2 construct, of this scope and id.
    """
    scope.node.try_remove_child(construct_id)
    made = make()
    element.override_logical_id(cast("CfnElement", made.node.default_child).logical_id)
    return made
