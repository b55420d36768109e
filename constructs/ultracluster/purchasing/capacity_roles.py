"""Roles to find and to buy capacity, separate from the roles of deployments and nodes.

What IAM knows of the purchase calls (Service Authorization Reference of EC2, read 2026-08, the same since 2024):
PurchaseCapacityBlock takes ``aws:RequestTag``, ``aws:TagKeys`` and ``ec2:Region``; PurchaseCapacityBlockExtension takes
``aws:ResourceTag`` and ``ec2:Region``. Instance type and count are documented for CreateCapacityReservation only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import allow, never
from ultracluster.purchasing.capacity_ledger import CapacityLedger
from ultracluster_catalog.names.identifiers import REGION
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, collect, is_token, quote, reject, require
from ultracluster_spec.instance_type import get_instance_type

_ORDER_TAG: Final = "uc:po"  # same tag as in ultracluster_runtime.purchasing.orders; a test compares the two
_REHEARSALS: Final = "ultracluster/rehearsals/*"  # names of ultracluster_runtime.rollout.rehearsal_record

_MOST_INSTANCES: Final = 1_000_000  # far above any order, and representable in IAM and JSON
_BUY: Final = "ec2:PurchaseCapacityBlock"
_EXTEND: Final = "ec2:PurchaseCapacityBlockExtension"
_RESERVE: Final = "ec2:CreateCapacityReservation"
_CANCEL: Final = "ec2:CancelCapacityReservation"

_LOOK: Final = (
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeCapacityBlockExtensionHistory",
    "ec2:DescribeCapacityBlockExtensionOfferings",
    "ec2:DescribeCapacityBlockOfferings",
    "ec2:DescribeCapacityBlockStatus",
    "ec2:DescribeCapacityBlocks",
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstances",
    "ec2:DescribeRegions",
)
_COMPARE: Final = (
    "ec2:DescribeInstanceTypeOfferings",
    "pricing:GetProducts",
    "servicequotas:GetAWSDefaultServiceQuota",
    "servicequotas:GetServiceQuota",
    "servicequotas:ListServiceQuotas",
)


class CapacitySearchRole(Construct):
    """A role that finds and compares capacity and reads the ledger, but cannot buy.

    Purchases are denied explicitly, so that a policy attached later cannot allow them.
    """

    role: iam.IRole
    """Underlying role."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        trusted_by: iam.IPrincipal,
        ledger: CapacityLedger | None = None,
    ) -> None:
        """Define the role.

        Args:
            trusted_by: Principal that may assume the role.
            ledger: Ledger to grant read access to. Default: none.

        Raises:
            FindingsError: If anyone could assume the role (UC7204).
        """
        reject(_check_principal(trusted_by))
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self, "Resource", assumed_by=trusted_by, description="Finds and compares capacity; cannot buy"
        )
        self.node.default_child = self.role.node.default_child
        self.role.add_to_policy(allow("Look", [*_LOOK, *_COMPARE], ["*"]))
        self.role.add_to_policy(_read_rehearsals(self, ["*"]))
        self.role.add_to_policy(never())
        if ledger is not None:
            ledger.grant_read(self.role).assert_success()


class CapacityPurchaseRole(Construct):
    """A role that buys, extends, reserves and cancels capacity, and records it in the ledger.

    IAM denies purchases without the tag of an order (``uc:po``), purchases outside the Regions, and extending or canceling
    capacity without that tag. The limits on instance type and count are reliable for On-Demand Capacity Reservations. For
    Capacity Blocks, AWS does not document that EC2 passes type and count to IAM, so they apply only if it does; the
    reliable limit is the quota of the account (`ultracluster docs capacity-security`).
    """

    role: iam.IRole
    """Underlying role."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        trusted_by: iam.IPrincipal,
        ledger: CapacityLedger,
        regions: Sequence[str],
        instance_types: Sequence[str],
        max_instances: int,
    ) -> None:
        """Define the role.

        Args:
            trusted_by: Principal that may assume the role; neither one that deploys nor a node.
            ledger: Ledger to record purchases in.
            regions: Regions to allow.
            instance_types: Instance types to allow.
            max_instances: Maximum number of instances per purchase.

        Raises:
            FindingsError: If a Region is invalid (UC7201), an instance type is unknown (UC4001) or none is given
                (UC7202), `max_instances` is below 1 (UC7203), or anyone could assume the role (UC7204).
        """
        reject(
            [
                *_check_principal(trusted_by),
                *_check_regions(regions),
                *_check_instance_types(instance_types),
                *_check_max_instances(max_instances),
            ]
        )
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Resource",
            assumed_by=trusted_by,
            description="Buys capacity by approved orders; apart from the roles that deploy and those of nodes",
        )
        self.node.default_child = self.role.node.default_child
        of_an_order = {"Null": {f"aws:ResourceTag/{_ORDER_TAG}": "false"}}
        types = {"ec2:InstanceType": list(instance_types)}
        count = {"ec2:InstanceCount": str(max_instances)}
        # IfExists, because otherwise a missing condition key would deny every purchase.
        caps_where_known = {"StringEqualsIfExists": types, "NumericLessThanEqualsIfExists": count}
        caps = {"StringEquals": types, "NumericLessThanEquals": count}
        reservations = [_ec2_arn(self, "capacity-reservation")]
        for statement in (
            allow("Look", _LOOK, ["*"]),
            _read_rehearsals(self, regions),
            allow("Buy", [_BUY], reservations, caps_where_known),
            allow("Reserve", [_RESERVE], reservations, caps),
            allow("ExtendOrGiveBack", [_EXTEND, _CANCEL], reservations, of_an_order),
            allow(
                "TagWhatIsBought",
                ["ec2:CreateTags"],
                [*reservations, _ec2_arn(self, "capacity-block")],
                {"StringEquals": {"ec2:CreateAction": [_api_name(_BUY), _api_name(_RESERVE)]}},
            ),
            # Denials hold whatever other policies are attached to the role.
            _deny(
                "NothingWithoutOrder", [_BUY, _RESERVE], {"Null": {f"aws:RequestTag/{_ORDER_TAG}": "true"}}
            ),
            _deny(
                "NothingElsewhere",
                [_BUY, _EXTEND, _RESERVE, _CANCEL],
                {"StringNotEquals": {"ec2:Region": list(regions)}},
            ),
        ):
            self.role.add_to_policy(statement)
        ledger.grant_record(self.role).assert_success()


def _read_rehearsals(scope: Construct, regions: Sequence[str]) -> iam.PolicyStatement:
    """Return the permission to read whether a cluster was rehearsed, which `approve` and `buy` report."""
    arns = [
        Stack.of(scope).format_arn(
            service="ssm", region=region, resource="parameter", resource_name=_REHEARSALS
        )
        for region in regions
    ]
    return allow("ReadRehearsals", ["ssm:GetParameter"], arns)


def _deny(
    sid: str, actions: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, effect=iam.Effect.DENY, actions=list(actions), resources=["*"], conditions=conditions
    )


def _api_name(action: str) -> str:
    return action.removeprefix("ec2:")


def _ec2_arn(scope: Construct, resource: str) -> str:
    return Stack.of(scope).format_arn(
        service="ec2",
        region="*",
        resource=resource,
        resource_name="*",
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )


def _check_principal(principal: iam.IPrincipal) -> list[Finding]:
    fragment = principal.policy_fragment
    everybody = any("*" in values for values in fragment.principal_json.values())
    return require(
        not everybody or fragment.conditions,
        "UC7204",
        "anyone could assume the role",
        path="trusted_by",
        allowed="a role, a user, an account, or an organization with its condition",
    )


def _check_regions(regions: Sequence[str]) -> Iterator[Finding]:
    if not regions:
        yield Finding(
            "UC7201", f"got {quote(regions)}", path="regions", allowed="a list of one Region or more"
        )
    for region in regions:
        if not is_token(region) and not re.fullmatch(REGION, region):
            yield Finding(
                "UC7201",
                f"got {quote(region)}",
                path="regions",
                allowed="names of Regions such as us-east-2, without wildcards",
            )


def _check_instance_types(instance_types: Sequence[str]) -> list[Finding]:
    problem, allowed = f"got {quote(instance_types)}", "a list of one instance type or more"
    found = require(instance_types, "UC7202", problem, path="instance_types", allowed=allowed)
    for instance_type in instance_types:
        collect(found, partial(get_instance_type, instance_type))
    return found


def _check_max_instances(max_instances: int) -> list[Finding]:
    fits = 1 <= max_instances <= _MOST_INSTANCES
    problem, allowed = f"got {quote(max_instances)}", f"1 to {_MOST_INSTANCES:,}"
    return require(fits, "UC7203", problem, path="max_instances", allowed=allowed)
