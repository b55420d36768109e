"""`ultracluster deploy --without-capacity`: deploy a rollout without capacity, to learn what AWS accepts before anything is bought."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import typer
from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import Project, find_toolchain
from ultracluster_cli._cdk.workspace import project_folder, run_directory, state_directory
from ultracluster_cli.deploy.deployment import cdk_deploy
from ultracluster_cli.deploy.rehearsal_guard import check_assembly
from ultracluster_cli.deploy.rehearsal_price import hourly_price, price_text
from ultracluster_cli.deploy.rehearsal_removal import LeftStack, find_stacks, remove_stacks
from ultracluster_cli.exit_codes import CommandError, ExitCode
from ultracluster_cli.output import counted, echo, print_json
from ultracluster_cli.preflight.command import print_results, report_result, result_row
from ultracluster_runtime.costs.price_list import PRICE_LIST_REGION
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
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.rehearsal.checks import PROBE_CHECKS, REHEARSAL_CHECKS
from ultracluster_runtime.rehearsal.reader import RehearsalReader
from ultracluster_runtime.rollout.rehearsal_record import Rehearsal, cluster_digest, write_rehearsal
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, reject
from ultracluster_stacks.config.rehearsal import (
    REHEARSAL,
    REHEARSAL_WITHOUT_FILE_SYSTEM,
    RehearsedCluster,
    left_out,
    rehearsed,
)

_SECONDS: Final = 300.0  # time limits of the checks before and after the deployment
_STACKS_AT_ONCE: Final = 4
_BEFORE_ANYTHING: Final = {*ACCOUNT_IS_KNOWN, REGION_IS_ENABLED, BOOTSTRAPPED}
# Findings about capacity that is not bought yet.
_OF_CAPACITY: Final = {check.code for check in checks_of(reservations, orders)}


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountRehearsal:
    """The rehearsal of the clusters of one account."""

    target: Target
    clusters: Sequence[Cluster]
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
        """Refuse to start while another rehearsal of the same clusters runs."""
        remedy = (
            "Wait until it ends, or remove it with `ultracluster deploy ROLLOUT --without-capacity --clean`"
        )
        findings = [
            Finding.message(f"{stack.name} in {stack.region} is {stack.status}", remedy=remedy)
            for stack in self._stacks()
        ]
        reject(findings)

    def check_before(self, *, qualifier: str) -> list[CheckResult]:
        """Run the checks that need no deployment: of types that AWS Batch knows, and those of preflight on the real clusters."""
        unbought = any(cluster.unresolved_orders for cluster in self.clusters)
        left_out = {REHEARSED, *(_OF_CAPACITY if unbought else ())}
        checks = [check for check in CHECKS if check.code not in left_out]
        return self._run([*PROBE_CHECKS, *checks], self.clusters, qualifier=qualifier, report=report_result)

    def check_deployed(self) -> list[CheckResult]:
        """Run the checks of deployed rehearsals."""
        return self._run(REHEARSAL_CHECKS, self.rehearsals, qualifier="", report=report_result)

    def deploy(self, assembly: Path, project: Project) -> None:
        """Deploy the stacks, and keep what was created when one of them fails, for the checks."""
        log = project.state / "logs" / "cdk-rehearse.log"
        progress = cdk_deploy(
            assembly,
            project,
            clusters=[cluster.stage for cluster in self.rehearsals],
            target=self.target,
            log=log,
            on_change=lambda _, deployed: echo(str(deployed)) if deployed else None,
            options=["--no-rollback", "--concurrency", str(_STACKS_AT_ONCE)],
        )
        if progress.code:
            echo(f"cdk deploy ended with code {progress.code}; see {log}")
            progress.show_failure()

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
        clusters: Sequence[Cluster],
        *,
        qualifier: str,
        report: Callable[[CheckResult], None] = lambda _: None,
    ) -> list[CheckResult]:
        reader = RehearsalReader(self.target.client, now=datetime.now(UTC), seconds=_SECONDS)
        selected = Account(clusters=tuple(clusters), qualifier=qualifier)
        return run_checks(selected, reader, on_result=report, checks=checks)


@contextmanager
def removed_at_the_end(rehearsals: Sequence[AccountRehearsal]) -> Iterator[None]:
    """Remove rehearsals at the end of the body, also after an error, Ctrl-C and SIGTERM."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        echo(
            "Interrupted: removing the rehearsal. Ctrl-C again leaves it to `ultracluster deploy ROLLOUT --without-capacity --clean`."
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
            if findings:
                raise CommandError(findings)
        finally:
            signal.signal(signal.SIGTERM, before)


def rehearse(
    rollout: Path,
    *,
    wave: str | None,
    names: Sequence[str],
    file_system: bool,
    clean: bool,
    local: bool,
    yes: bool,
    qualifier: str,
    as_json: bool,
) -> None:
    """Deploy a rollout without capacity, check the result, and remove it; with `clean`, only remove what one has left."""
    directory, start = project_folder(), time.monotonic()
    _, clusters = load_clusters(rollout, wave=wave, names=names, deployable=False)
    with (
        run_directory(state_directory(directory)) as temporary,
        open_targets(clusters, local=local, temporary=temporary, seed_blocks=False) as targets,
    ):
        rehearsals = [
            _of_account(targets, profile, clusters, file_system=file_system) for profile in targets.targets
        ]
        for rehearsal in rehearsals:
            rehearsal.check_account(qualifier=qualifier)
        if clean:
            removed = sum(rehearsal.remove() for rehearsal in rehearsals)
            echo(f"Removed {removed} stacks of rehearsals.")
            return
        project = Project(directory=directory, temporary=temporary, toolchain=find_toolchain(directory))
        for rehearsal in rehearsals:
            rehearsal.check_absent()
        _state_price(rehearsals, local=local, name=targets.name)
        if not (yes or local):
            typer.confirm("Begin?", abort=True, err=True)
        results = {id(rehearsal): rehearsal.check_before(qualifier=qualifier) for rehearsal in rehearsals}
        assembly = temporary / "rehearsal"
        environment = rehearsals[0].target.environment
        purpose = REHEARSAL if file_system else REHEARSAL_WITHOUT_FILE_SYSTEM
        project.synthesize(assembly, rollout=rollout, wave=None, environment=environment, purpose=purpose)
        check_assembly(assembly)
        with removed_at_the_end(rehearsals):
            for rehearsal in rehearsals:
                rehearsal.deploy(assembly, project)
                results[id(rehearsal)] += rehearsal.check_deployed()
        for rehearsal in rehearsals:
            for problem in rehearsal.write_records(results[id(rehearsal)]):
                echo(f"warning: {problem}")
    _print_outcome(
        [result for of_account in results.values() for result in of_account],
        clusters,
        seconds=round(time.monotonic() - start, 1),
        as_json=as_json,
    )


def _of_account(
    targets: ClusterTargets, profile: str | None, clusters: Sequence[Cluster], *, file_system: bool
) -> AccountRehearsal:
    own = [cluster for cluster in clusters if targets.profiles.get(cluster.stage) == profile]
    rehearsals = [rehearsed(cluster, file_system=file_system) for cluster in own]
    return AccountRehearsal(target=targets.targets[profile], clusters=own, rehearsals=rehearsals)


def _state_price(rehearsals: Sequence[AccountRehearsal], *, local: bool, name: str) -> None:
    clusters = [cluster for rehearsal in rehearsals for cluster in rehearsal.rehearsals]
    echo(
        f"Rehearsing {counted(len(clusters), 'cluster')} in {name}, without nodes: {', '.join(one.stage for one in clusters)}"
    )
    for cluster in (cluster for rehearsal in rehearsals for cluster in rehearsal.clusters):
        if parts := left_out(cluster):
            echo(f"{cluster.name}: not rehearsed: {', '.join(parts)}")
    pricing = None if local else rehearsals[0].target.client("pricing", PRICE_LIST_REGION)
    echo(price_text(hourly_price(clusters, pricing=pricing)))


def _print_outcome(
    results: Sequence[CheckResult], clusters: Sequence[Cluster], *, seconds: float, as_json: bool
) -> None:
    counts = Counter(result.outcome.status for result in results)
    rows = [result_row(result) for result in results]
    if as_json:
        not_rehearsed = {cluster.stage: list(left_out(cluster)) for cluster in clusters}
        passed = counts[Status.FAIL] == 0
        print_json(passed=passed, results=rows, not_rehearsed=not_rehearsed, seconds=seconds)
    else:
        print_results(rows, counts, calls=f"{seconds:.0f} s; everything is removed")
    if counts[Status.FAIL]:
        raise typer.Exit(ExitCode.FAILED)
