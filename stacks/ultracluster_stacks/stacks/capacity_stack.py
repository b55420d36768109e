"""A stack for buying capacity, once per account in its home Region."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster import CapacityGuard, CapacityLedger, CapacityPurchaseRole, CapacitySearchRole


class CapacityStack(cdk.Stack):
    """The capacity ledger, the purchase and search roles, and the guard of the home Region.

    Not part of a rollout: the ledger outlives every cluster, and deploying clusters must not include the right to
    decide who may buy. The outputs are inputs of the commands and of a service control policy.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        buyers: iam.IPrincipal,
        searchers: iam.IPrincipal,
        regions: Sequence[str],
        instance_types: Sequence[str],
        max_instances: int,
        emails: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """Define the stack.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            buyers: Principals that may assume the purchase role.
            searchers: Principals that may assume the search role.
            regions: Regions to buy in. Each Region other than the stack's needs its own `CapacityGuard`.
            instance_types: Instance types to buy.
            max_instances: Maximum number of instances per purchase.
            emails: Email addresses to notify of every purchase. Default: none.
            **options: Properties of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **options)
        ledger = CapacityLedger(self, "Ledger")
        caps: Any = {"regions": regions, "instance_types": instance_types, "max_instances": max_instances}
        buyer = CapacityPurchaseRole(self, "PurchaseRole", trusted_by=buyers, ledger=ledger, **caps)
        searcher = CapacitySearchRole(self, "SearchRole", trusted_by=searchers, ledger=ledger)
        CapacityGuard(self, "Guard", emails=emails)
        cdk.CfnOutput(self, "LedgerTableName", value=ledger.table_name)
        cdk.CfnOutput(self, "PurchaseRoleArn", value=buyer.role.role_arn)
        cdk.CfnOutput(self, "SearchRoleArn", value=searcher.role.role_arn)
