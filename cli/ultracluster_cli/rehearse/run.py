"""Deploy the rehearsals of one account, check them, and remove them in any case."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.toolchain import Project
from ultracluster_cli.deploy.deployment import DeploymentProgress, cdk_deploy
from ultracluster_cli.output import say
from ultracluster_cli.preflight.command import report_result
from ultracluster_cli.preflight.requirements import rollout_requirements
from ultracluster_cli.rehearse.removal import LeftStack, find_stacks, remove_stacks
from ultracluster_rules.findings import Finding, FindingsError, reject
from ultracluster_runtime.preflight import account, orders, reservations
from ultracluster_runtime.preflight.check import (
    ACCOUNT_IS_KNOWN,
    BOOTSTRAPPED,
    REGION_IS_ENABLED,
    AnyCheck,
    Status,
    checks_of,
)
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.rehearsals import REHEARSED
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_runtime.rehearsal.checks import PROBE_CHECKS, REHEARSAL_CHECKS
from ultracluster_runtime.rehearsal.reader import RehearsalReader
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, write_rehearsal
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.config.rehearsal import RehearsedCluster, cluster_digest

_SECONDS: Final = 300.0  # time limits of the checks before and after the deployment
_STACKS_AT_ONCE: Final = 4
_FAILURES_SHOWN: Final = 5
_BEFORE_ANYTHING: Final = {*ACCOUNT_IS_KNOWN, REGION_IS_ENABLED, BOOTSTRAPPED}
# Findings about capacity that is not bought yet.
_OF_CAPACITY: Final = {check.code for check in checks_of(reservations, orders)}


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountRehearsal:
    """The rehearsal of the clusters of one account."""

    target: Target
    clusters: Sequence[ClusterConfig]
    rehearsals: Sequence[RehearsedCluster]

    def check_account(self, *, qualifier: str) -> None:
        """Refuse another account, and Regions that are not enabled or not bootstrapped, with the codes of preflight."""
        results = self._run(checks_of(account), self.clusters, qualifier=qualifier)
        findings = [
            Finding(
                code=result.code,
                problem=result.outcome.evidence,
                remedy=result.outcome.remedy,
                path=result.subject,
            )
            for result in results
            if result.code in _BEFORE_ANYTHING and result.outcome.status is Status.FAIL
        ]
        reject(findings)

    def check_absent(self) -> None:
        """Refuse to start while another rehearsal of the same clusters runs: UC9701 for each of its stacks."""
        remedy = "Wait until it ends, or remove it with `ultracluster rehearse ROLLOUT --clean`"
        findings = [
            Finding(code="UC9701", problem=f"{stack.name} in {stack.region} is {stack.status}", remedy=remedy)
            for stack in self._stacks()
        ]
        reject(findings)

    def check_before(self, *, qualifier: str) -> list[CheckResult]:
        """Run the checks that need no deployment: those of preflight on the real clusters, and of types that AWS Batch knows."""
        unbought = any(cluster.unresolved_orders for cluster in self.clusters)
        left_out = {REHEARSED, *(_OF_CAPACITY if unbought else ())}
        checks = [check for check in CHECKS if check.code not in left_out]
        return self._run([*checks, *PROBE_CHECKS], self.clusters, qualifier=qualifier, report=report_result)

    def check_deployed(self) -> list[CheckResult]:
        """Run the checks of deployed rehearsals."""
        return self._run(REHEARSAL_CHECKS, self.rehearsals, qualifier="", report=report_result)

    def deploy(self, assembly: Path, project: Project) -> None:
        """Deploy the stacks, and keep what was created when one of them fails, for the checks."""
        log = project.state / "logs" / "cdk-rehearse.log"
        progress = DeploymentProgress()
        code = cdk_deploy(
            assembly,
            project,
            clusters=[cluster.stage for cluster in self.rehearsals],
            target=self.target,
            log=log,
            progress=progress,
            on_change=lambda deployed: say(str(deployed)) if deployed else None,
            options=["--no-rollback", "--concurrency", str(_STACKS_AT_ONCE)],
        )
        if code:
            say(f"cdk deploy ended with code {code}; see {log}")
            for line in progress.explanation(_FAILURES_SHOWN):
                say(f"  | {line}")

    def remove(self) -> int:
        """Remove the rehearsals, also those of earlier runs, and return the number of stacks."""
        stacks = self._stacks()
        remove_stacks(self.target.client, stacks)
        return len(stacks)

    def write_records(self, results: Sequence[CheckResult]) -> Iterator[str]:
        """Write the record of each cluster, and yield why one could not be written."""
        now = datetime.now(UTC)
        for cluster, rehearsal in zip(self.clusters, self.rehearsals, strict=True):
            places = ((), (cluster.region,), (cluster.region, cluster.name), (cluster.region, rehearsal.name))
            own = [result for result in results if result.key[:2] in places]
            record = Rehearsal(
                digest=cluster_digest(cluster),
                at=now,
                passed=sum(result.outcome.status is Status.PASS for result in own),
                failures=tuple(
                    f"{result.code} {result.outcome.evidence}"
                    for result in own
                    if result.outcome.status is Status.FAIL
                ),
            )
            try:
                write_rehearsal(self.target.client("ssm", cluster.region), cluster.name, record)
            except (BotoCoreError, ClientError) as error:
                yield f"the record of {cluster.name} could not be written, so that others do not see this rehearsal: {error}"

    def _stacks(self) -> list[LeftStack]:
        regions = {cluster.region for cluster in self.rehearsals}
        stages = {cluster.stage for cluster in self.rehearsals}
        return find_stacks(self.target.client, regions=regions, stages=stages)

    def _run(
        self,
        checks: Sequence[AnyCheck],
        clusters: Sequence[ClusterConfig],
        *,
        qualifier: str,
        report: Callable[[CheckResult], None] = lambda _: None,
    ) -> list[CheckResult]:
        reader = RehearsalReader(self.target.client, now=datetime.now(UTC), seconds=_SECONDS)
        requirements = rollout_requirements(clusters, qualifier=qualifier)
        return run_checks(requirements, reader, on_result=report, checks=checks)


@contextmanager
def removed_at_the_end(rehearsals: Sequence[AccountRehearsal]) -> Iterator[None]:
    """Remove rehearsals at the end of the body, also after an error, Ctrl-C and SIGTERM."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say(
            "Interrupted: removing the rehearsal. Ctrl-C again leaves it to `ultracluster rehearse ROLLOUT --clean`."
        )
        raise
    finally:
        try:
            findings: list[Finding] = []
            for rehearsal in rehearsals:
                try:
                    rehearsal.remove()
                except FindingsError as error:
                    findings += error.findings
            reject(findings)
        finally:
            signal.signal(signal.SIGTERM, before)
