"""Run checks concurrently, each after those it depends on, within a deadline."""

import queue
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.preflight.check import AnyCheck, Outcome, Status, failed, skipped
from ultracluster_runtime.preflight.reader import AwsReader, DeadlinePassedError
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.subjects import Account

_MOST_THREADS: Final = 16
UNANSWERED: Final = ("no answer", "unexpected response of AWS")
"""How the evidence of a check begins that AWS has not answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """Result of a check on one subject."""

    code: str
    # Place of the subject: empty for the account, else Region, cluster, and the resource in it
    key: tuple[str, ...]
    outcome: Outcome

    @property
    def subject(self) -> str:
        """Place of the subject as text."""
        return " ".join(self.key) or "account"


@dataclass(frozen=True, slots=True)
class _Task:
    check: AnyCheck
    subject: Any


def run_checks(
    account: Account,
    reader: AwsReader,
    *,
    skip: Collection[str] = (),
    on_result: Callable[[CheckResult], None] = lambda _: None,
    checks: Sequence[AnyCheck] = CHECKS,
) -> list[CheckResult]:
    """Run checks on the clusters of an account and return the results in their order.

    Checks that depend on those in `skip` still run. `on_result` is called with each result as it arrives, in the calling
    thread.
    """
    results: list[CheckResult] = []

    def note(check: AnyCheck, key: tuple[str, ...], outcome: Outcome) -> None:
        result = CheckResult(code=check.code, key=key, outcome=outcome)
        results.append(result)
        on_result(result)

    for stage in _stages(checks):
        tasks = []
        for check in stage:
            subjects = list(check.subjects(account))
            if check.code in skip:
                note(check, (), skipped("skipped by --skip"))
            elif not subjects:
                note(check, (), skipped("does not apply to this rollout"))
            else:
                tasks += [_Task(check, subject) for subject in subjects]
        ready = []
        for task in tasks:
            if (blocker := _blocking_check(task, results)) is None:
                ready.append(task)
            else:
                note(task.check, task.subject.key, skipped(f"waits for {blocker}"))
        _run_all(ready, reader, note)
    order = {check.code: index for index, check in enumerate(checks)}
    return sorted(results, key=lambda result: (order[result.code], result.key))


def _stages(checks: Iterable[AnyCheck]) -> list[list[AnyCheck]]:
    """Group checks by depth: first those without dependencies, then those that depend on these, and so on."""
    depth: dict[str, int] = {}
    stages: dict[int, list[AnyCheck]] = {}
    for check in checks:
        depth[check.code] = max((depth[code] + 1 for code in check.after if code in depth), default=0)
        stages.setdefault(depth[check.code], []).append(check)
    return [stages[level] for level in sorted(stages)]


def _blocking_check(task: _Task, results: Iterable[CheckResult]) -> str | None:
    """Return the code of a failed check that blocks this one on the same or a containing subject."""
    for result in results:
        here = task.subject.key[: len(result.key)] == result.key
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

    # Daemon threads, so that a hanging request does not keep the command alive after its deadline.
    for _ in range(min(_MOST_THREADS, len(tasks))):
        threading.Thread(target=work, name="preflight", daemon=True).start()
    waiting = list(tasks)
    while waiting:
        try:
            task, outcome = done.get(timeout=max(0.0, reader.seconds_left()))
        except queue.Empty:
            for late in waiting:
                note(late.check, late.subject.key, _timed_out())
            return
        waiting.remove(task)
        note(task.check, task.subject.key, outcome)


def _outcome(task: _Task, reader: AwsReader) -> Outcome:
    try:
        outcome: Outcome = task.check.evaluate(task.subject, task.check.gather(reader, task.subject))
    except DeadlinePassedError:
        return _timed_out()
    except ClientError as error:
        problem = f"{error.response['Error'].get('Code')}: {error.response['Error'].get('Message')}"
        calls = sorted(call for call in reader.allowed if call.endswith(f":{error.operation_name}"))
        remedy = f"Allow {' and '.join(calls)}, or skip this check: --skip {task.check.code}"
        return failed(f"no answer: {problem}", remedy)
    except BotoCoreError as error:
        return failed(f"no answer: {error}", "Check the network, the credentials and the Region")
    except Exception as error:  # noqa: BLE001 - an unexpected response fails one check, not all
        return failed(
            f"unexpected response of AWS: {type(error).__name__}: {error}",
            f"Report this, and skip the check for now: --skip {task.check.code}",
        )
    return outcome


def _timed_out() -> Outcome:
    return failed("no answer before the deadline", "Run it again with a longer --timeout")
