"""Ask the accounts of a plan what preflight knows about what changes: reservations, quotas, file systems and node images."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.imported_roles import ImportedRole, imported_role_check
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.reservations import TIMES
from ultracluster_runtime.preflight.run import UNANSWERED, CheckResult, run_checks
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.records import RECORDS
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.plan import (
    Plan,
    StackChange,
    StackState,
    StackTemplate,
    Stop,
    StopKind,
    imported_roles,
)

# Quotas for nodes and storage, reservations with size, state and times, AMIs, existing buckets, keys and file systems, submitters.
_ASKED: Final = frozenset(
    f"UC{code}"
    for code in (
        *range(9411, 9414),
        9416,
        *range(9422, 9430),
        9431,
        9432,
        9434,
        *range(9442, 9445),
        9448,
        9450,
        *range(9452, 9455),
        9480,
        9481,
    )
)
_SECONDS: Final = 30.0
_TOLD: Final = 3  # questions without an answer that are named


@dataclass(frozen=True, slots=True)
class Answers:
    """What the accounts answered.

    Attributes:
        failures: What they have not, with the stage of the cluster; empty for what concerns all clusters of an account.
        unanswered: Questions that could not be asked.
    """

    failures: tuple[tuple[str, CheckResult], ...]
    unanswered: tuple[CheckResult, ...]

    def without_answer(self) -> str:
        """Return one line about what the accounts did not answer; empty if they answered everything."""
        if not self.unanswered:
            return ""
        kinds = {one.code: one for one in self.unanswered}
        named = "; ".join(
            f"{RECORDS[code].summary.removesuffix('.')} ({code}, {one.outcome.evidence.removesuffix('.')})"
            for code, one in [*kinds.items()][:_TOLD]
        )
        more = f"; and {len(kinds) - _TOLD} more" if len(kinds) > _TOLD else ""
        return f"The account could not be asked whether this holds: {named}{more}"

    def contradicts(self, reservation: str) -> bool:
        """Return whether the times of a reservation are others than the rollout says."""
        return any(result.code == TIMES and reservation in result.key for _, result in self.failures)


def ask_accounts(
    clusters: Sequence[Cluster], targets: ClusterTargets, stacks: Sequence[StackTemplate]
) -> Answers:
    """Ask the account of each cluster, with read-only calls, also about the imported roles of its stacks."""
    groups: dict[str | None, list[Cluster]] = {}
    for cluster in clusters:
        groups.setdefault(targets.of(cluster.stage).profile, []).append(cluster)
    failures, unanswered = [], []
    for members in groups.values():
        target = targets.of(members[0].stage)
        reader = AwsReader(target.client, now=target.now(), seconds=_SECONDS)
        account = Account(clusters=tuple(members), qualifier="")  # no check of these reads the bootstrap
        stages: dict[tuple[str, ...], str] = {cluster.key: cluster.stage for cluster in members}
        names = {cluster.stage: cluster.name for cluster in members}
        roles = [
            ImportedRole(region=stack.region, cluster=names[stack.cluster], name=name, user=user)
            for stack in stacks
            if stack.cluster in names
            for name, user in imported_roles(stack).items()
        ]
        checks = [imported_role_check(roles), *(check for check in CHECKS if check.code in _ASKED)]
        for result in run_checks(account, reader, checks=checks):
            if result.outcome.status is not Status.FAIL:
                continue
            if result.outcome.evidence.startswith(UNANSWERED):
                unanswered.append(result)
            else:
                in_region = next((stage for key, stage in stages.items() if key[:1] == result.key[:1]), "")
                failures.append((stages.get(result.key[:2], in_region), result))
    return Answers(tuple(failures), tuple(unanswered))


def with_answers(plan: Plan, answers: Answers, *, idle_blocks: Collection[str]) -> Plan:
    """Return a plan that also stops at what the accounts lack for the clusters that change.

    A reservation that the rollout says is yet to start is judged in any case: the plan takes it for idle.
    """
    changing = {stack.cluster for stack in plan.stacks if stack.state in {StackState.NEW, StackState.CHANGED}}
    stops: dict[str, list[Stop]] = {}
    for stage, result in answers.failures:
        if stage in changing or (result.code == TIMES and not set(result.key).isdisjoint(idle_blocks)):
            stops.setdefault(stage, []).append(_stop(stage, result))
    unanswered = answers.without_answer() if changing else ""
    return Plan(stacks=tuple(_stopped(plan.stacks, stops)), unanswered=unanswered)


def _stopped(stacks: Sequence[StackChange], stops: dict[str, list[Stop]]) -> Iterator[StackChange]:
    """Iterate over the stacks; the last one of each cluster, which has its nodes, gets the stops."""
    last = {stack.cluster: stack.name for stack in stacks if stack.state is not StackState.LEFT}
    for stack in stacks:
        if last.get(stack.cluster) == stack.name:
            yield replace(stack, stops=(*stack.stops, *stops.get(stack.cluster, ())))
        else:
            yield stack


def _stop(stage: str, result: CheckResult) -> Stop:
    outcome = result.outcome
    reason = (
        f"{result.key[-1] if result.key else 'account'}: {outcome.evidence}. {outcome.remedy} ({result.code})"
    )
    return Stop(kind=StopKind.ACCOUNT, reason=reason, allow=f"account:{stage}/{result.code}")
