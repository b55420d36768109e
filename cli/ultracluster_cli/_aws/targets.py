"""Deployment targets: AWS accounts and the local AWS."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from ultracluster_cli._aws.target import ClusterTargets, Target, single_target
from ultracluster_runtime.aws.aws_session import clients_of, refuse_credentials
from ultracluster_runtime.functions.responses import AWS_ERRORS, UNREADABLE, problem_of
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError


def account(profile: str | None = None) -> Target:
    """Return the account of a profile or of the default credentials."""
    try:
        client = clients_of(profile)
        identity = client("sts", client.region or "us-east-1").get_caller_identity()
        name = f"account {identity['Account']} as {identity['Arn']}"
    except FindingsError:
        raise
    except AWS_ERRORS as error:
        remedy = (
            "STS could not be asked; try again, or use --local"
            if _is_unanswered(error)
            else "Sign in (such as with `aws sso login`), set AWS_PROFILE, or use --local"
        )
        problem = f"profile {profile}: {problem_of(error)}" if profile else problem_of(error)
        raise refuse_credentials(problem, remedy=remedy) from error
    return Target(
        name=name,
        local=False,
        environment=os.environ,
        client=client,
        account=identity["Account"],
        profile=profile,
    )


def _is_unanswered(error: Exception) -> bool:
    """Whether STS said nothing about the credentials: the connection failed, or it is busy or broken."""
    if isinstance(error, ClientError):
        answer = error.response
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return "Throttl" in answer["Error"]["Code"] or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return isinstance(error, (BotoConnectionError, HTTPClientError, *UNREADABLE))


def existing_targets(clusters: Sequence[Cluster], *, local: bool = False) -> ClusterTargets:
    """Return the accounts of all profiles, or the local AWS that runs in the background, as it is, for all clusters."""
    if local:
        return single_target(running_local_aws(region=clusters[0].region))
    profiles = {cluster.stage: cluster.profile for cluster in clusters}
    targets = {profile: account(profile) for profile in dict.fromkeys(profiles.values())}
    return ClusterTargets(profiles=profiles, targets=targets)


@contextmanager
def local_aws_findings() -> Iterator[None]:
    """Raise errors of the local AWS as findings with the same code and text."""
    try:
        from ultracluster_local.errors import LocalAwsError  # noqa: PLC0415 - optional dependency
    except ModuleNotFoundError:
        problem = "Python module ultracluster_local is missing"
        raise FindingsError.message(problem, remedy="Install ultracluster[local]") from None
    try:
        yield
    except LocalAwsError as error:
        finding = Finding(code=error.code, problem=error.problem, allowed=error.allowed, remedy=error.remedy)
        raise FindingsError([finding]) from error


@contextmanager
def open_targets(
    clusters: Sequence[Cluster],
    *,
    local: bool,
    temporary: Path,
    seed_blocks: bool = True,
    run_jobs: bool = False,
) -> Iterator[ClusterTargets]:
    """Open the accounts of all profiles, or the local AWS for all clusters, seeded with fakes of their reservations and images.

    The local AWS is the one started by `ultracluster local up`, or one for the duration of this context.
    """
    if not local:
        yield existing_targets(clusters)
        return
    with local_aws_findings():
        from ultracluster_cli._aws.local_target import local_aws  # noqa: PLC0415 - optional dependency

        with local_aws(clusters, temporary=temporary, seed_blocks=seed_blocks, run_jobs=run_jobs) as target:
            yield single_target(target)


def running_local_aws(*, region: str) -> Target:
    """Return the local AWS started by `ultracluster local up`, without seeding it."""
    with local_aws_findings():
        from ultracluster_cli._aws import local_target  # noqa: PLC0415 - optional dependency

        return local_target.running_local_aws(region=region)


def use_local_aws() -> Callable[[], None]:
    """Make this process use the local AWS started by `ultracluster local up`, and return a function that undoes it."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-2"
    target = running_local_aws(region=region)
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(target.environment)

    def undo() -> None:
        os.environ.clear()
        os.environ.update(before)

    return undo
