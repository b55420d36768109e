"""The records of the rules of accounts, jobs and purchases."""

from typing import Final

from ultracluster_runtime import service_jobs
from ultracluster_runtime.aws import aws_session
from ultracluster_runtime.costs import price_list
from ultracluster_runtime.jobs import dependencies, describe, logs, submission
from ultracluster_runtime.preflight import (
    account,
    file_systems,
    images,
    imported_roles,
    network,
    orders,
    permissions,
    quotas,
    rehearsals,
    reservations,
    storage,
    zones,
)
from ultracluster_runtime.preflight import check as preflight_check
from ultracluster_runtime.purchasing import (
    clock,
    ec2_reads,
    fold,
    ledger,
    operator_actions,
    order_checks,
    overlaps,
    purchase,
    quotes,
    reconcile,
    search,
    verify,
    wait,
)
from ultracluster_runtime.rehearsal import checks
from ultracluster_runtime.rollout import journal
from ultracluster_spec.record import by_code

RECORDS: Final = by_code(
    aws_session.RECORDS,
    price_list.RECORDS,
    dependencies.RECORDS,
    describe.RECORDS,
    logs.RECORDS,
    submission.RECORDS,
    account.RECORDS,
    preflight_check.RECORDS,
    file_systems.RECORDS,
    images.RECORDS,
    imported_roles.RECORDS,
    network.RECORDS,
    orders.RECORDS,
    permissions.RECORDS,
    quotas.RECORDS,
    rehearsals.RECORDS,
    reservations.RECORDS,
    storage.RECORDS,
    zones.RECORDS,
    clock.RECORDS,
    ec2_reads.RECORDS,
    ledger.RECORDS,
    operator_actions.RECORDS,
    order_checks.RECORDS,
    overlaps.RECORDS,
    purchase.RECORDS,
    quotes.RECORDS,
    fold.RECORDS,
    reconcile.RECORDS,
    search.RECORDS,
    verify.RECORDS,
    wait.RECORDS,
    checks.RECORDS,
    journal.RECORDS,
    service_jobs.RECORDS,
)
"""Every record of a rule about what runs, by its code."""
