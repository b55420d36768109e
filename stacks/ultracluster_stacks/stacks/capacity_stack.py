"""The stack of an account that buys capacity: one for the account, in its home Region, apart from every rollout."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster import CapacityGuard, CapacityLedger, CapacityPurchaseRole, CapacitySearchRole

__all__ = ["CapacityStack"]


class CapacityStack(cdk.Stack):
    """The ledger, the role that buys, the role that looks, and the guard of the home Region.

    No part of a rollout: the ledger belongs to the account and outlives every cluster, and who deploys clusters
    needs no right to decide who may spend. Its outputs say what the commands and a service control policy need.
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
            scope: Where to add it.
            construct_id: Its id there.
            buyers: Who may assume the role that buys.
            searchers: Who may assume the role that looks.
            regions: Regions to buy in. Each one but the stack's own needs another `CapacityGuard`.
            instance_types: Instance types to buy.
            max_instances: Most instances of one purchase.
            emails: Addresses that hear of every purchase. Default: none.
            **options: Of `aws_cdk.Stack`.
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
