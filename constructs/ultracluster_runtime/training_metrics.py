"""Metrics of a training run: lines on standard output from which CloudWatch Logs makes metrics, without permission or call.

For training code. It needs the standard library of Python 3.10 only: copy this one file into an image, or install
the package there with ``pip install --no-deps ultracluster``. The lines are in docs/training-metrics.md.
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
_PRECISIONS = ("fp8", "bf16", "fp16", "tf32", "fp32")

# How launchers tell a process which of all it is.
_RANKS = ("RANK", "JAX_PROCESS_ID", "NODE_RANK")


class TrainingMetrics:
    """Collects the figures of a run, and prints them in the first process of the job only.

    Call it in every process; the others print nothing. Outside the jobs of a cluster nothing is printed either, so that
    the calls may stay in the program. A value that is no finite number of 0 or more is left out: no figure ends a run.
    Only the loss may be negative.
    """

    def __init__(
        self, *, flops_per_token: float | None = None, precision: str = "bf16", min_interval_seconds: float = 10
    ) -> None:
        """Begin with nothing collected.

        Args:
            flops_per_token: Operations that the model needs for one token, forwards and backwards; about 6 times its
                parameters for a dense transformer. Default: not known, and no utilisation (Mfu) is reported.
            precision: What the matrices are multiplied in: ``fp8``, ``bf16``, ``fp16``, ``tf32`` or ``fp32``. Decides
                which peak the utilisation is a share of. Default: ``bf16``.
            least_seconds: The least time between two lines about steps; one line sums up the steps since the last.
                0 prints one for each step. Default: 10 seconds.

        Raises:
            ValueError: If the precision is another one.
        """
        if precision not in _PRECISIONS:
            raise ValueError(f"got precision {precision!r}; one of {', '.join(_PRECISIONS)}")
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
        """Note one step, and print a line if the last one is long enough ago.

        Args:
            seconds: How long it took.
            tokens: Tokens of all processes in it. Default: not known.
            loss: Its loss. Default: not known.
            collective_seconds: How much of its time went into collectives that nothing overlapped. Default: not known.
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
        """Print what a compilation took.

        Args:
            seconds: How long the program waited for it.
            cache_hits: Graphs that the compile cache had. Default: 0.
            cache_misses: Graphs that had to be compiled. Default: 0.
        """
        self._print({"CompileSeconds": seconds, "CacheHits": cache_hits, "CacheMisses": cache_misses})

    def checkpoint(self, seconds: float) -> None:
        """Print how long a checkpoint held up the run.

        Args:
            seconds: How long.
        """
        self._print({"CheckpointSeconds": seconds})

    def flush(self) -> None:
        """Print the steps since the last line, if there are any; call it at the end of the run."""
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
            # Searched for in the logs; as dimensions each run would be billed as metrics of its own.
            "JobId": os.environ.get("AWS_BATCH_JOB_ID", ""),
            "Step": self._total_steps,
            **values,
        }
        # One write of one line: what other processes print into the same pipe does not tear it.
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _is_valid(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value) and value >= 0


def _peak_flops(precision: str) -> float | None:
    """Give the peak of all nodes of the job, from what the job definition says of one; None when it says nothing."""
    figures = dict(entry.partition(":")[::2] for entry in os.environ.get("UC_PEAK_TFLOPS", "").split(","))
    try:
        nodes = int(os.environ.get("AWS_BATCH_JOB_NUM_NODES", "1"))
        return float(figures[precision]) * 1e12 * nodes or None
    except (KeyError, ValueError):
        return None
