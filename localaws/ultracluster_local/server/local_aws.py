"""A local AWS in this process."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ultracluster_local.instance.environment import child_environment, set_profiles_aside
from ultracluster_rules.findings import Finding, FindingsError

if TYPE_CHECKING:
    from ultracluster_local.events.delivery import Delivery
    from ultracluster_local.events.timeline import EventSettings
    from ultracluster_local.instance.clients import Clients
    from ultracluster_local.instance.clock import Clock
    from ultracluster_local.server.server import Server
    from ultracluster_local.services.ec2.capacity_market import CapacityMarket

__all__ = ["LocalAws"]


class LocalAws:
    """moto's server with our extension, on a thread of this process; at most one for each process.

    It listens on 127.0.0.1 only, and its clients reach nothing else.

    Args:
        port: Port to listen on. Default: a free one.
        directory: Where its files are. Default: a temporary directory, removed by `stop`.
        regions: Regions to bootstrap at the start; others are on first use by `client` or `environment`.
            Default: us-east-1.
    """

    def __init__(
        self, *, port: int = 0, directory: Path | None = None, regions: Iterable[str] = ("us-east-1",)
    ) -> None:
        self._port = port
        self._given_directory = directory
        self._regions = tuple(regions)
        self._directory: Path | None = None
        self._server: Server | None = None
        self._profiles: dict[str, str] = {}
        self._clients: Clients | None = None

    def start(self) -> Self:
        """Start listening.

        Raises:
            FindingsError: If one runs in this process already (UC8002), the port is taken (UC8003) or moto is
                not installed (UC8004).
        """
        self._profiles = set_profiles_aside()
        try:
            self._start()
        except BaseException:
            os.environ.update(self._profiles)
            raise
        return self

    def _start(self) -> None:
        try:
            from ultracluster_local.instance.clients import Clients, models_read_once  # noqa: PLC0415 - boto3 is slow

            with models_read_once(), _kept_for_good():
                from ultracluster_local.events.timeline import live_through  # noqa: PLC0415 - likewise
                from ultracluster_local.instance.clock import CLOCK  # noqa: PLC0415 - moto costs seconds
                from ultracluster_local.instance.running import Running, is_running, set_running  # noqa: PLC0415
                from ultracluster_local.server.in_process import answered_by  # noqa: PLC0415 - likewise
                from ultracluster_local.server.server import Server  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise _error(
                "UC8004", f"Python module {error.name} is missing", "Install ultracluster[local]"
            ) from None
        if is_running():
            raise _error("UC8002", "a local AWS runs in this process already", "Stop it, or use it")
        try:
            self._server = Server(port=self._port, on_reset=self.reset, on_seed=self._seed_as_ordered)
        except (OSError, OverflowError) as error:
            raise _error(
                "UC8003",
                f"cannot listen on port {self._port}: {error}",
                "Choose another port, or 0 for a free one",
            ) from None
        self._directory = self._given_directory or Path(tempfile.mkdtemp(prefix="ultracluster-local-"))
        self._directory.mkdir(parents=True, exist_ok=True)
        endpoint = f"http://localhost:{self._server.port}"
        self._clients = Clients(endpoint=endpoint)
        own = Clients(endpoint=endpoint, answer=answered_by(self._server.application))
        set_running(Running(clients=own, directory=self._directory))
        CLOCK.when_moved(live_through)
        self.reset()

    def stop(self) -> None:
        """Stop listening and forget everything; a second call does nothing."""
        if self._server is None:
            return
        from ultracluster_local.instance.clock import CLOCK  # noqa: PLC0415 - loaded by now
        from ultracluster_local.instance.running import set_running  # noqa: PLC0415 - loaded by now
        from ultracluster_local.server.server import forget  # noqa: PLC0415

        self._server.stop()
        self._server = None
        CLOCK.when_moved(None)
        set_running(None)
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

    def _started(self) -> "Clients":
        if self._server is None or self._clients is None:
            raise RuntimeError(
                "this local AWS is not started; call start() or use `with LocalAws() as local:`"
            )
        return self._clients

    @property
    def endpoint(self) -> str:
        """Address, such as ``http://localhost:41234``."""
        return self._started().endpoint

    def environment(
        self, region: str = "us-east-1", *, base: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return an environment in which child processes reach this local AWS and no other; bootstraps `region`.

        Args:
            region: Region to set as default. Default: us-east-1.
            base: Environment to start from. Default: the environment of this process.
        """
        self._seed(region)
        return child_environment(endpoint=self.endpoint, region=region, base=base)

    def client(self, service: str, region: str = "us-east-1") -> Any:
        """Return a boto3 client of this local AWS; bootstraps `region`.

        Args:
            service: Name of the service as boto3 spells it.
            region: Region. Default: us-east-1.
        """
        self._seed(region)
        return self._started().get(service, region)

    def reset(self) -> None:
        """Empty everything, set the clock to real time, and bootstrap again."""
        from ultracluster_local.instance.clock import CLOCK  # noqa: PLC0415 - loaded by now
        from ultracluster_local.server.server import forget  # noqa: PLC0415

        self._started()
        forget()
        CLOCK.follow_real_time()
        for region in self._regions:
            self._seed(region)

    @property
    def clock(self) -> "Clock":
        """The time that Capacity Blocks, schedules and functions follow; moving it forward lets happen what is due."""
        from ultracluster_local.instance.clock import CLOCK  # noqa: PLC0415 - loaded by now

        return CLOCK

    def capacity_market(self, region: str = "us-east-1") -> "CapacityMarket":
        """Return what can be reserved and bought in a Region, to change its settings.

        Args:
            region: Region. Default: us-east-1.
        """
        from ultracluster_local.services.ec2.capacity_market import capacity_market  # noqa: PLC0415 - loaded by now

        self._started()
        return capacity_market(region)

    @property
    def event_settings(self) -> "EventSettings":
        """How moves of the clock are lived through; `reset` sets them back."""
        from ultracluster_local.events.timeline import event_settings  # noqa: PLC0415 - loaded by now

        self._started()
        return event_settings()

    def deliveries(self, region: str = "us-east-1") -> "list[Delivery]":
        """Return the events that rules and schedules of a Region sent to targets, oldest first.

        Args:
            region: Region. Default: us-east-1.
        """
        from ultracluster_local.events.delivery import history  # noqa: PLC0415 - loaded by now

        self._started()
        return list(history(region))

    def _seed_as_ordered(self, order: Mapping[str, Any]) -> None:
        from ultracluster_local.seeding.seed import seed_as_ordered  # noqa: PLC0415 - loaded by now

        seed_as_ordered(self._started(), order)

    def _seed(self, region: str) -> None:
        from ultracluster_local.seeding.seed import seed_region  # noqa: PLC0415 - loaded by now

        seed_region(self._started(), region)


@contextmanager
def _kept_for_good() -> Iterator[None]:
    """Let the garbage collector leave alone what is imported meanwhile: a quarter of a million objects that stay to the end."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if collects:
            gc.enable()


def _error(code: str, problem: str, remedy: str) -> FindingsError:
    return FindingsError([Finding(code=code, problem=problem, remedy=remedy)])
