"""Report metrics of a training run as log lines from which CloudWatch extracts them; no permissions or API calls.

For training code. It needs only the standard library of Python 3.10: copy this one file into an image, or install
the package there with ``pip install --no-deps ultracluster``. The format is described in `ultracluster docs training-metrics`.
"""

import json
import math
import os
import sys
import time
from types import TracebackType
from typing import TypeGuard

__all__ = ["TrainingMetrics"]

_NAMESPACE = "UltraCluster"
_UNITS = {
    "Steps": "Count",
    "StepSeconds": "Seconds",
    "TokensPerSecond": "Count/Second",
    "Loss": "None",
    "CollectiveShare": "None",
    "CompileSeconds": "Seconds",
    "CacheHits": "Count",
    "CacheMisses": "Count",
    "CheckpointSeconds": "Seconds",
    "Mfu": "None",
}
_PRECISIONS = ("mxfp8", "mxfp4", "fp8", "bf16", "fp16", "tf32", "fp32")

# Variables in which launchers pass the rank of a process.
_RANKS = ("RANK", "JAX_PROCESS_ID", "NODE_RANK")


class TrainingMetrics:
    """Collects metrics of a run and prints them in the first process of the job.

    Call it in every process; the others print nothing. Outside the jobs of a cluster nothing is printed either, so that
    the calls can stay in the program. Values that are negative, infinite or NaN are dropped instead of failing the run;
    only the loss may be negative.
    """

    def __init__(
        self,
        *,
        flops_per_token: float | None = None,
        precision: str = "bf16",
        min_interval_seconds: float = 10,
    ) -> None:
        """Create a collector.

        Args:
            flops_per_token: Floating-point operations of the model per token, forward and backward; about 6 times the
                number of parameters for a dense transformer. Default: unknown, and utilization (Mfu) is not reported.
            precision: Precision of the matrix multiplications: ``mxfp8``, ``mxfp4``, ``fp8``, ``bf16``, ``fp16``,
                ``tf32`` or ``fp32``. It selects the peak that utilization is a share of. Default: ``bf16``.
            min_interval_seconds: Minimum time between two lines about steps, in seconds; a line summarizes the steps since
                the last one. 0 prints a line for each step. Default: 10 seconds.

        Raises:
            ValueError: If the precision is unknown.
        """
        if precision not in _PRECISIONS:
            raise ValueError(f"got precision {precision!r}; expected one of {', '.join(_PRECISIONS)}")
        self._cluster = os.environ.get("UC_CLUSTER", "")
        self._job = os.environ.get("UC_JOB", "")
        rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
        self._enabled = bool(self._cluster and self._job) and rank == "0"
        self._flops_per_token = flops_per_token
        self._peak_flops = _peak_flops(precision)
        self._min_interval_seconds = min_interval_seconds
        self._printed_at = time.monotonic()
        self._total_steps = 0
        self._clear()

    def _clear(self) -> None:
        self._steps = self._timed_steps = 0
        self._seconds = 0.0
        self._tokens = self._token_seconds = 0.0
        self._collective_seconds = self._collective_step_seconds = 0.0
        self._loss: float | None = None

    def step(
        self,
        seconds: float,
        *,
        tokens: float | None = None,
        loss: float | None = None,
        collective_seconds: float | None = None,
    ) -> None:
        """Record one step; print a line if the minimum interval has passed.

        Args:
            seconds: Duration of the step in seconds.
            tokens: Tokens processed by all processes. Default: unknown.
            loss: Loss of the step. Default: unknown.
            collective_seconds: Seconds spent in collectives that did not overlap with computation. Default: unknown.
        """
        self._total_steps += 1
        self._steps += 1
        if _is_valid(seconds):
            self._timed_steps += 1
            self._seconds += seconds
            if _is_valid(tokens):
                self._tokens += tokens
                self._token_seconds += seconds
            if _is_valid(collective_seconds):
                self._collective_seconds += collective_seconds
                self._collective_step_seconds += seconds
        if loss is not None and math.isfinite(loss):
            self._loss = float(loss)
        if time.monotonic() - self._printed_at >= self._min_interval_seconds:
            self.flush()

    def compiled(self, seconds: float, *, cache_hits: int = 0, cache_misses: int = 0) -> None:
        """Print the duration of a compilation.

        Args:
            seconds: Seconds that the program waited for it.
            cache_hits: Graphs found in the compile cache. Default: 0.
            cache_misses: Graphs that had to be compiled. Default: 0.
        """
        self._print({"CompileSeconds": seconds, "CacheHits": cache_hits, "CacheMisses": cache_misses})

    def checkpoint(self, seconds: float) -> None:
        """Print how long a checkpoint blocked the run.

        Args:
            seconds: Duration in seconds.
        """
        self._print({"CheckpointSeconds": seconds})

    def flush(self) -> None:
        """Print the steps since the last line, if any; call it at the end of the run."""
        if not self._steps:
            return
        figures: dict[str, float | None] = {"Steps": self._steps, "Loss": self._loss}
        if self._timed_steps:
            figures["StepSeconds"] = self._seconds / self._timed_steps
        if self._token_seconds:
            speed = figures["TokensPerSecond"] = self._tokens / self._token_seconds
            if self._flops_per_token and self._peak_flops:
                figures["Mfu"] = speed * self._flops_per_token / self._peak_flops
        if self._collective_step_seconds:
            figures["CollectiveShare"] = self._collective_seconds / self._collective_step_seconds
        self._clear()
        self._printed_at = time.monotonic()
        self._print(figures)

    def __enter__(self) -> "TrainingMetrics":  # noqa: PYI034 - Python 3.10 has no Self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    def _print(self, figures: dict[str, float | None]) -> None:
        values = {
            name: float(value)
            for name, value in figures.items()
            if _is_valid(value) or (name == "Loss" and value is not None)
        }
        if not (self._enabled and values):
            return
        metrics = [{"Name": name, "Unit": unit} for name, unit in _UNITS.items() if name in values]
        line = {
            "_aws": {
                "Timestamp": int(time.time() * 1000),
                "CloudWatchMetrics": [
                    {
                        "Namespace": _NAMESPACE,
                        "Dimensions": [["Cluster"], ["Cluster", "Job"]],
                        "Metrics": metrics,
                    }
                ],
            },
            "Cluster": self._cluster,
            "Job": self._job,
            # In the log only: as a dimension it would make every run a new, billed metric.
            "JobId": os.environ.get("AWS_BATCH_JOB_ID", ""),
            "Step": self._total_steps,
            **values,
        }
        # A single write, so that output of other processes in the same pipe does not tear the line.
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _is_valid(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value) and value >= 0


def _peak_flops(precision: str) -> float | None:
    """Return the peak FLOPS of all nodes of the job, from the job definition; None if it is unknown."""
    figures = dict(entry.partition(":")[::2] for entry in os.environ.get("UC_PEAK_TFLOPS", "").split(","))
    try:
        nodes = int(os.environ.get("AWS_BATCH_JOB_NUM_NODES", "1"))
        return float(figures[precision]) * 1e12 * nodes or None
    except (KeyError, ValueError):
        return None
