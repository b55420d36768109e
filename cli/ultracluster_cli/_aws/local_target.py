"""The local AWS as a deployment target; requires ultracluster-local."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import ultracluster_local
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.workspace import project_folder
from ultracluster_cli.exit_codes import NotRunningError
from ultracluster_cli.progress import measure
from ultracluster_local.instance import clients
from ultracluster_local.instance.environment import ACCOUNT, child_environment
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed_client import (
    SeedContainerImage,
    SeedImage,
    SeedReservation,
    move_clock,
    seed,
)
from ultracluster_local.server.daemon import DEFAULT_DIRECTORY, Status, status
from ultracluster_runtime.functions.clients import Clients
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.file_system import MOUNT_PATH

LOCAL_VARIABLE = "ULTRACLUSTER_LOCAL"
"""Folder of the local AWS that a shell uses."""

_FAKE_BLOCK = timedelta(days=14)


@contextmanager
def local_aws(
    clusters: Sequence[Cluster],
    *,
    temporary: Path,
    seed_blocks: bool,
    run_jobs: bool,
) -> Iterator[Target]:
    """Open the running local AWS, or start one; see `open_targets`."""
    with ExitStack() as stack:
        with measure("starting the local AWS"):
            running = _running()
            if running is None:
                local = stack.enter_context(ultracluster_local.LocalAws(directory=temporary / "local"))
                if run_jobs:
                    # The programs of the demo need only what this Python has.
                    folder = Path(sys.executable).parent
                    images = {job.image: folder for cluster in clusters for job in cluster.jobs}
                    local.run_jobs(JobSettings(images=images))
                endpoint, key = local.endpoint, local.key
            else:
                endpoint, key = running.endpoint, running.key
            files = node_files()
            seed(
                endpoint=endpoint,
                key=key,
                regions={cluster.region for cluster in clusters},
                images=[
                    SeedImage(
                        image_id=cluster.image_id, region=cluster.region, files=files, shared=MOUNT_PATH
                    )
                    for cluster in clusters
                ],
                container_images={fake for cluster in clusters for fake in _container_images(cluster)},
                reservations=[
                    fake
                    for cluster in clusters
                    for fake in _fake_reservations(cluster)
                    if seed_blocks or not fake.block
                ],
            )
        seeded = "reservations and images" if seed_blocks else "images"
        yield Target(
            name=f"the local AWS at {endpoint}, with fake {seeded}",
            local=True,
            environment=child_environment(endpoint=endpoint, key=key, region=clusters[0].region),
            client=local_clients(endpoint, key),
            now=lambda: read_clock(endpoint=endpoint, key=key),
            runs_jobs=run_jobs and running is None,
        )


def local_clients(endpoint: str, key: str) -> Clients:
    """Return clients of a local AWS."""
    local = clients.Clients(endpoint=endpoint, key=key)
    return Clients(lambda service, *, region_name, config: local.get(service, region_name))  # noqa: ARG005 - no retries


def _running() -> Status | None:
    return status(local_directory())


def local_directory() -> Path:
    """Return the folder of the local AWS: that of the project, or of one that runs and that this shell uses."""
    own = project_folder() / DEFAULT_DIRECTORY
    used = os.environ.get(LOCAL_VARIABLE)
    return Path(used) if used and status(own) is None and status(Path(used)) else own


def running_local_aws(*, region: str) -> Target:
    """Return the local AWS that runs in the background; see `targets.running_local_aws`."""
    running = _running()
    if running is None:
        remedy = "Run `ultracluster local up`, then `ultracluster deploy --local`"
        raise NotRunningError.message("no local AWS is running here", remedy=remedy)
    return Target(
        name=f"the local AWS at {running.endpoint}",
        local=True,
        environment=child_environment(endpoint=running.endpoint, key=running.key, region=region),
        client=local_clients(running.endpoint, running.key),
        now=lambda: read_clock(endpoint=running.endpoint, key=running.key),
    )


def read_clock(*, endpoint: str, key: str) -> datetime:
    """Return the time of a local AWS."""
    return datetime.fromisoformat(move_clock(endpoint=endpoint, key=key)["now"]).astimezone(UTC)


def node_files() -> dict[str, str]:
    """Return what user data puts on a node, which the local AWS does not run: the launcher, and settings of the ECS agent."""
    package = find_spec("ultracluster")  # not imported: that would start Node
    if package is None or not package.submodule_search_locations:
        return {}
    scripts = Path(package.submodule_search_locations[0]) / "scripts"
    agent = re.findall(r"ECS_\w+=\w+", (scripts / "node-boot.sh").read_text("utf-8"))
    files = {LAUNCHER_PATH: (scripts / "launch.py").read_text("utf-8")}
    return files | {"/etc/ecs/ecs.config": "\n".join([*agent, ""])}


def _container_images(cluster: Cluster) -> Iterator[SeedContainerImage]:
    """Return the tagged job images in a registry of the local account."""
    for job in cluster.jobs:
        image = re.fullmatch(ECR_IMAGE, job.image)
        if image and image["account"] == ACCOUNT and image["tag"] and not image["digest"]:
            yield SeedContainerImage(repository=image["repository"], tag=image["tag"], region=image["region"])


def _fake_reservations(cluster: Cluster) -> list[SeedReservation]:
    now = datetime.now(UTC)
    return [
        SeedReservation(
            reservation_id=capacity.reservation_id,
            region=cluster.region,
            zone_id=cluster.zone_id,
            instance_type=cluster.instance_type,
            count=cluster.nodes_from(capacity),
            # Default to a block that has started, since rollouts need not specify times.
            start=capacity.start or now,
            end=capacity.end or (now + _FAKE_BLOCK if is_block else None),
            block=is_block,
        )
        for _, capacity in cluster.sources()
        if capacity.reservation_id is not None
        for is_block in (capacity.market_type == "capacity-block",)
    ]
