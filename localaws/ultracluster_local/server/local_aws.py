"""A local AWS in this process."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ultracluster_local.errors import LocalAwsError
from ultracluster_local.events.delivery import Delivery, history
from ultracluster_local.events.moves import clock_from_request
from ultracluster_local.events.timeline import EventSettings, event_settings, run_due
from ultracluster_local.functions.execution_environment import end_environments
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.clock import CLOCK, Clock
from ultracluster_local.instance.delays import Delays, delays
from ultracluster_local.instance.environment import child_environment, new_key, remove_profiles
from ultracluster_local.instance.running import Running, is_running, set_running
from ultracluster_local.jobs.container import STOP_SECONDS
from ultracluster_local.jobs.runner import JobRunner
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_from_request, seed_region
from ultracluster_local.server.in_process import before_send_handler
from ultracluster_local.server.server import Server, forget
from ultracluster_local.services.ec2.capacity_market import CapacityMarket, capacity_market

__all__ = ["LocalAws"]


class LocalAws:
    """moto's server with our extensions, on a thread of this process; at most one per process.

    It listens on 127.0.0.1 only, accepts only requests with its key, and its clients reach only it.

    Args:
        port: Port to listen on. Default: a free one.
        directory: Directory for its files. Default: a temporary one, removed by `stop`.
        regions: Regions to bootstrap at the start; others are bootstrapped by `client` and `environment`.
            Default: us-east-1.
        evaluate_policies: Whether functions, assumed roles and users may call only what their policies allow.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        directory: Path | None = None,
        regions: Iterable[str] = ("us-east-1",),
        evaluate_policies: bool = False,
    ) -> None:
        self._evaluate_policies = evaluate_policies
        self._port = port
        self._key = new_key()
        self._given_directory = directory
        self._regions = tuple(regions)
        self._directory: Path | None = None
        self._server: Server | None = None
        self._profiles: dict[str, str] = {}
        self._clients: Clients | None = None
        self._jobs: JobRunner | None = None

    def start(self) -> Self:
        """Start listening.

        Raises:
            LocalAwsError: If one is already running in this process (UC8002), or the port is in use (UC8003).
        """
        self._profiles = remove_profiles()
        try:
            self._start()
        except BaseException:
            os.environ.update(self._profiles)
            raise
        return self

    def _start(self) -> None:
        if is_running():
            raise LocalAwsError(
                "UC8002", "a local AWS is already running in this process", remedy="Stop it, or use it"
            )
        try:
            self._server = Server(
                port=self._port,
                key=self._key,
                own={
                    "/moto-api/reset": self._reset_from_request,
                    "/_ultracluster/reset": self._reset_from_request,
                    "/_ultracluster/seed": self._seed_from_request,
                    "/_ultracluster/clock": self._clock_from_request,
                    "/_ultracluster/inside": self._inside_from_request,
                },
            )
        except (OSError, OverflowError) as error:
            raise LocalAwsError(
                "UC8003",
                f"cannot listen on port {self._port}: {error}",
                remedy="Choose another port, or 0 for a free one",
            ) from None
        self._directory = self._given_directory or Path(tempfile.mkdtemp(prefix="ultracluster-local-"))
        self._directory.mkdir(parents=True, exist_ok=True)
        endpoint = f"http://localhost:{self._server.port}"
        self._clients = Clients(endpoint=endpoint, key=self._key)
        own = Clients(endpoint=endpoint, key=self._key, answer=before_send_handler(self._server.application))
        set_running(
            Running(clients=own, directory=self._directory, evaluates_policies=self._evaluate_policies)
        )
        CLOCK.on_move(self._run_due)
        self.reset()

    def stop(self) -> None:
        """Stop listening and discard all state; a second call does nothing."""
        if self._server is None:
            return
        self.run_jobs(None)
        self._server.stop()
        self._server = None
        CLOCK.on_move(None)
        set_running(None)
        end_environments()
        forget()
        os.environ.update(self._profiles)
        if self._given_directory is None and self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _started(self) -> Clients:
        if self._server is None or self._clients is None:
            raise RuntimeError(
                "this local AWS is not started; call start() or use `with LocalAws() as local:`"
            )
        return self._clients

    @property
    def endpoint(self) -> str:
        """Endpoint URL, such as ``http://localhost:41234``."""
        return self._started().endpoint

    @property
    def key(self) -> str:
        """Random access key ID that requests must carry."""
        return self._key

    def environment(
        self, region: str = "us-east-1", *, base: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Bootstrap `region` and return an environment in which child processes reach only this local AWS.

        Args:
            region: Region to set as default. Default: us-east-1.
            base: Environment to start from. Default: the environment of this process.
        """
        self._seed(region)
        return child_environment(endpoint=self.endpoint, key=self._key, region=region, base=base)

    def client(self, service: str, region: str = "us-east-1") -> Any:
        """Bootstrap `region` and return a boto3 client of this local AWS.

        Args:
            service: Service name of boto3.
            region: Region. Default: us-east-1.
        """
        self._seed(region)
        return self._started().get(service, region)

    def reset(self) -> None:
        """Discard all state, set the clock to real time, and bootstrap again."""
        self._started()
        if self._jobs:
            self._jobs.forget()
        forget()
        end_environments()
        if self._directory is not None:
            shutil.rmtree(self._directory / "functions", ignore_errors=True)
        CLOCK.follow_real_time()
        for region in self._regions:
            self._seed(region)

    def run_jobs(self, settings: JobSettings | None) -> None:
        """Run AWS Batch jobs as processes of this machine from now on, also after a reset.

        Args:
            settings: How jobs run. None kills running jobs; all jobs then wait in RUNNABLE.
        """
        if self._jobs:
            self._jobs.stop()
            self._jobs = None
        if settings:
            self._started()
            self._jobs = JobRunner(settings)
            self._jobs.start()

    @property
    def clock(self) -> Clock:
        """The clock that Capacity Blocks, schedules and functions follow; moving it forward runs what is due."""
        return CLOCK

    def capacity_market(self, region: str = "us-east-1") -> CapacityMarket:
        """Return the capacity market of a Region, whose settings tests can change.

        Args:
            region: Region. Default: us-east-1.
        """
        self._started()
        return capacity_market(region)

    @property
    def event_settings(self) -> EventSettings:
        """Settings for moves of the clock; `reset` restores the defaults."""
        self._started()
        return event_settings()

    @property
    def delays(self) -> Delays:
        """How long changes take; `reset` restores the default, that nothing takes time."""
        self._started()
        return delays()

    def deliveries(self, region: str = "us-east-1") -> list[Delivery]:
        """Return the events that rules and schedules of a Region sent to their targets, oldest first.

        Args:
            region: Region. Default: us-east-1.
        """
        self._started()
        return list(history(region))

    def _run_due(self, before: datetime, until: datetime) -> None:
        # Containers follow real time: those that were stopped before have ended by the clock.
        if self._jobs and (until - before).total_seconds() >= STOP_SECONDS:
            self._jobs.end_stopped()
        run_due(before, until)
        if self._jobs:
            self._jobs.tick()
            self._jobs.deliver()

    def _reset_from_request(self, _: object) -> dict[str, str]:
        self.reset()
        return {"status": "ok"}

    def _seed_from_request(self, order: Mapping[str, Any]) -> dict[str, str]:
        seed_from_request(self._started(), order)
        return {"status": "ok"}

    def _clock_from_request(self, order: Mapping[str, Any]) -> dict[str, Any]:
        return clock_from_request(order) | {"jobs": self._jobs is not None}

    def _inside_from_request(self, order: Mapping[str, Any]) -> dict[str, Any]:
        if self._jobs is None:
            raise ValueError("it runs no jobs; start it with --run-jobs")
        return self._jobs.inside(str(order["name"]))

    def _seed(self, region: str) -> None:
        seed_region(self._started(), region)
