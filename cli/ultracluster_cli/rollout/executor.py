"""Run the steps of a rollout in threads, and finish them on Ctrl-C."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import botocore.exceptions

from ultracluster_cli.output import say
from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.rollout.drive import Result
from ultracluster_runtime.rollout.machine import Task

_POLL_SECONDS = 0.5  # Python handles signals only between waits


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadedExecutor:
    """Run each step in a separate thread.

    ``report`` gets None when a step starts, and its result when it ends. ``stopping`` is set on the first Ctrl-C.
    """

    take: Callable[[Task], Result]
    report: Callable[[Task, Result | None], None]
    stopping: threading.Event
    _ended: queue.SimpleQueue[tuple[Task, Result | Exception]] = field(default_factory=queue.SimpleQueue)

    def begin(self, task: Task) -> None:
        """Start a step without waiting for it."""
        self.report(task, None)
        # Daemon threads, so that a second Ctrl-C ends this process and its children.
        threading.Thread(
            target=self._work, args=(task,), name=f"{task.cluster} {task.step}", daemon=True
        ).start()

    def wait(self) -> tuple[Task, Result]:
        """Wait for the next step to end, and return it with its result."""
        while True:
            try:
                task, result = self._ended.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                if self.stopping.is_set():
                    raise
                self.stopping.set()
                say(
                    "Stopping after the current steps. Press Ctrl-C again to exit now; CloudFormation finishes its deployments."
                )
                continue
            if isinstance(result, Exception):
                raise result
            self.report(task, result)
            return task, result

    def stop_requested(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self.stopping.is_set()

    def _work(self, task: Task) -> None:
        try:
            self._ended.put((task, self.take(task)))
        except (
            FindingsError,
            OSError,
            botocore.exceptions.BotoCoreError,
            botocore.exceptions.ClientError,
        ) as error:
            self._ended.put((task, Result(passed=False, note=str(error))))
        except Exception as error:  # noqa: BLE001 - raised again by wait
            self._ended.put((task, error))
