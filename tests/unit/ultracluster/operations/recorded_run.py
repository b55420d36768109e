"""Twenty-four hours of a cluster of four nodes in the shape in which CloudWatch would have recorded them.

Made here with a fixed seed, not recorded on AWS. What the watch publishes is computed by its own code from a simulated cluster;
the metrics of nodes and training are drawn. A fault begins at its minute and lasts for its time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from ultracluster_catalog.observability.metrics import METRICS, NAMESPACE
from ultracluster_local.alarms.series import Metric, Series
from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_runtime.watch.metrics import ClusterObservations, Step, WaitingJob, compute_metrics

START = datetime(2026, 11, 21, 11, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MINUTES = 24 * 60
NODES = 4
STEP_SECONDS = 24.0
FAULT_MINUTES = 45


@dataclass(frozen=True, kw_only=True)
class Run:
    """What happens.

    Attributes:
        faults: The minute at which each fault begins, by the id of its alarm.
        seed: Of all that is drawn.
    """

    faults: Mapping[str, int] = field(default_factory=dict)
    seed: int = 20261121

    def has(self, fault: str, minute: int) -> bool:
        begins = self.faults.get(fault)
        return begins is not None and begins <= minute < begins + FAULT_MINUTES


def metric(name: str) -> Metric:
    assert name in METRICS
    return Metric.of(NAMESPACE, name, {"Cluster": "pretrain"})


def record(run: Run, *, file_system: str, minutes: int = MINUTES) -> Series:
    """Give the data points of the run, minute by minute."""
    series, draw = Series(), Random(run.seed)  # noqa: S311 - a recording, not a secret
    targets = [
        Metric.of(
            "AWS/FSx",
            "StorageCapacityUtilization",
            {"FileSystemId": file_system, "StorageTargetId": f"OST000{number}"},
        )
        for number in range(4)
    ]
    steps: list[Step] = []
    for minute in range(minutes):
        at = START + minute * MINUTE
        stalled = run.has("StepStalled", minute)
        for name, value in _watched(run, minute, steps).items():
            series.add(metric(name), at, value)
        for node in range(NODES):
            for name, value in _node(run, minute, node, draw).items():
                series.add(metric(name), at + timedelta(seconds=20), value)
        if not stalled:
            seconds = STEP_SECONDS * draw.uniform(0.97, 1.03)
            steps.append(Step(at=at, seconds=seconds))
            series.add(metric("StepSeconds"), at, seconds)
            series.add(metric("Steps"), at, 2)
            slow = run.has("CollectiveShare", minute)
            # A slow node makes the others, and so the rank that reports, wait in its collectives.
            series.add(
                metric("CollectiveShare"), at, draw.uniform(0.38, 0.45) if slow else draw.uniform(0.1, 0.2)
            )
            misses = 12 if minute == run.faults.get("CacheMisses") else int(minute % 300 == 0)
            series.add(metric("CacheMisses"), at, misses)
        for target in targets[1:]:
            series.add(target, at, 100 * draw.uniform(0.3, 0.35))
        series.add(targets[0], at, 100 * (1 - free_share(run, minute)))
    return series


def free_share(run: Run, minute: int) -> float:
    """Free share of the fullest target: checkpoints fill it until somebody releases files; a fault lets them pile up."""
    if run.has("FileSystemFull", minute):
        return max(0.02, 0.4 - 0.04 * (minute - run.faults["FileSystemFull"]))
    return 0.6 - 0.2 * (minute % 360) / 360


def _watched(run: Run, minute: int, steps: list[Step]) -> Mapping[str, float]:
    now = START + minute * MINUTE
    gone = 1 if run.has("Unused", minute) else 0
    # A block of two days around the recorded one, unless the end of the block is the fault.
    drains = run.faults.get("DrainComing")
    end = START + timedelta(days=2) if drains is None else START + (drains + 120 + 40) * MINUTE
    block = Reservation(
        state="active",
        is_block=True,
        ultraserver=False,
        instances=NODES,
        start=START - timedelta(hours=12),
        end=end,
    )
    waiting = []
    if run.has("JobWaits", minute):
        waiting.append(WaitingJob(since=START + (run.faults["JobWaits"] - 60) * MINUTE, reason=""))
    if run.has("QueueBlocked", minute):
        since = START + run.faults["QueueBlocked"] * MINUTE
        waiting.append(
            WaitingJob(since=since, reason="MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - too large")
        )
    return compute_metrics(
        ClusterObservations(
            now=now,
            reservations=((block, NODES - gone),),
            without_reservation=False,
            launched=(START - timedelta(hours=11),) * (NODES - gone),
            refused=(now,) if run.has("NodeRefused", minute) else (),
            invalid_environments=int(run.has("EnvironmentInvalid", minute)),
            waiting=tuple(waiting),
            running=(START - timedelta(hours=10),),
            steps=tuple(steps[-180:]),
        )
    )


def _node(run: Run, minute: int, node: int, draw: Random) -> Mapping[str, float]:
    # Draws come first, so that a fault of one node changes nothing of the others.
    used, sent = draw.uniform(82, 97), draw.uniform(4e12, 6e12)
    last = node == NODES - 1
    if last and (run.has("NodeLost", minute) or run.has("Unused", minute)):
        return {}
    fallen_back = run.has("TcpFallback", minute)
    return {
        "NodesReporting": 1,
        "CoreUtilization": draw.uniform(0, 1) if last and run.has("Idle", minute) else used,
        "EfaBytes": 1000 if fallen_back else sent,
        "TcpFallback": int(fallen_back),
        "EfaDevicesMissing": int(last and run.has("EfaMissing", minute)),
        "NeuronDevicesMissing": int(last and run.has("NeuronMissing", minute)),
        "NodeFaults": int(last and run.has("NodeFaulty", minute)),
        "EccUncorrected": int(last and minute == run.faults.get("Ecc")),
        "EccCorrected": int(minute % 97 == node),
    }
