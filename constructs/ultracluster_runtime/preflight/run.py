"""Running checks: many at once, each when what it waits for has passed, and all within a deadline."""

import queue
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.preflight.check import AnyCheck, Outcome, Status, failed, skipped
from ultracluster_runtime.preflight.reader import AwsReader, DeadlinePassedError
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.requirements import RolloutRequirements

__all__ = ["Result", "run_checks"]

_MOST_THREADS: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of a check on one subject.

    Attributes:
        code: Code of the check.
        title: What holds when it passes.
        key: The subject: nothing for the account, then Region, cluster, and the thing in it.
        outcome: What came of it.
    """

    code: str
    title: str
    key: tuple[str, ...]
    outcome: Outcome

    @property
    def subject(self) -> str:
        """The subject in words."""
        return " ".join(self.key) or "account"


@dataclass(frozen=True, slots=True)
class _Task:
    check: AnyCheck
    requirements: Any


def run_checks(
    requirements: RolloutRequirements,
    reader: AwsReader,
    *,
    skip: Collection[str] = (),
    on_result: Callable[[Result], None] = lambda _: None,
    checks: Sequence[AnyCheck] = CHECKS,
) -> list[Result]:
    """Run all checks on a rollout.

    Args:
        needs: What the rollout needs.
        reads: What asks AWS; its deadline is that of all checks together.
        left_out: Codes of checks to leave out. What waits for them goes ahead. Default: none.
        tell: Told each result as it comes, by this thread. Default: nobody.
        checks: What to run. Default: all.

    Returns:
        The results in the order of the checks.
    """
    results: list[Result] = []

    def note(check: AnyCheck, key: tuple[str, ...], outcome: Outcome) -> None:
        result = Result(code=check.code, title=check.title, key=key, outcome=outcome)
        results.append(result)
        on_result(result)

    for stage in _stages(checks):
        tasks = []
        for check in stage:
            subjects = list(check.subjects(requirements))
            if check.code in skip:
                note(check, (), skipped("left out by --skip"))
            elif not subjects:
                note(check, (), skipped("the rollout has nothing that this is about"))
            else:
                tasks += [_Task(check, subject) for subject in subjects]
        ready = []
        for task in tasks:
            if (blocker := _blocking_check(task, results)) is None:
                ready.append(task)
            else:
                note(task.check, task.requirements.key, skipped(f"waits for {blocker}"))
        _run_all(ready, reader, note)
    order = {check.code: index for index, check in enumerate(checks)}
    return sorted(results, key=lambda result: (order[result.code], result.key))


def _stages(checks: Iterable[AnyCheck]) -> list[list[AnyCheck]]:
    """Checks that wait for none, then those that wait for these, and so on."""
    depth: dict[str, int] = {}
    stages: dict[int, list[AnyCheck]] = {}
    for check in checks:
        depth[check.code] = max((depth[code] + 1 for code in check.after if code in depth), default=0)
        stages.setdefault(depth[check.code], []).append(check)
    return [stages[level] for level in sorted(stages)]


def _blocking_check(task: _Task, results: Iterable[Result]) -> str | None:
    """The code of a check that this one waits for, and that did not pass here or around here."""
    for result in results:
        here = task.requirements.key[: len(result.key)] == result.key
        waits = result.outcome.status is Status.SKIP and result.outcome.evidence.startswith("waits for")
        if here and result.code in task.check.after and (waits or result.outcome.status is Status.FAIL):
            return result.code
    return None


def _run_all(
    tasks: Sequence[_Task], reader: AwsReader, note: Callable[[AnyCheck, tuple[str, ...], Outcome], None]
) -> None:
    todo: queue.SimpleQueue[_Task] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[_Task, Outcome]] = queue.SimpleQueue()
    for task in tasks:
        todo.put(task)

    def work() -> None:
        while True:
            try:
                task = todo.get_nowait()
            except queue.Empty:
                return
            done.put((task, _outcome(task, reader)))

    # Daemons: one that hangs in a request must not keep the command from ending at its deadline.
    for _ in range(min(_MOST_THREADS, len(tasks))):
        threading.Thread(target=work, name="preflight", daemon=True).start()
    waiting = list(tasks)
    while waiting:
        try:
            task, outcome = done.get(timeout=max(0.0, reader.seconds_left()))
        except queue.Empty:
            for late in waiting:
                note(late.check, late.requirements.key, _timed_out())
            return
        waiting.remove(task)
        note(task.check, task.requirements.key, outcome)


def _outcome(task: _Task, reader: AwsReader) -> Outcome:
    try:
        outcome: Outcome = task.check.evaluate(task.requirements, task.check.gather(reader, task.requirements))
    except DeadlinePassedError:
        return _timed_out()
    except ClientError as error:
        problem = f"{error.response['Error'].get('Code')}: {error.response['Error'].get('Message')}"
        calls = ", ".join(task.check.calls)
        return failed(
            f"not answered: {problem}", f"Allow {calls}, or leave this out: --skip {task.check.code}"
        )
    except BotoCoreError as error:
        return failed(f"not answered: {error}", "Check the network, the credentials and the Region")
    except Exception as error:  # noqa: BLE001 - an answer that was not foreseen fails its check, not all of them
        return failed(
            f"the answer of AWS was not understood: {type(error).__name__}: {error}",
            f"Report this, and leave it out meanwhile: --skip {task.check.code}",
        )
    return outcome


def _timed_out() -> Outcome:
    return failed("not answered before the deadline", "Run it again, with a longer --timeout")
