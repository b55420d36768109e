"""Explain why a job failed: what AWS Batch reports of its nodes, their exit codes, and known faults in their logs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_catalog.names.launcher import LOST_NODE
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.jobs.describe import (
    child_job_ids,
    describe_jobs,
    is_array,
    last_attempt,
    last_container,
)
from ultracluster_runtime.jobs.diagnose import Reason
from ultracluster_runtime.jobs.faults import exit_code, find_faults
from ultracluster_runtime.jobs.logs import (
    READ_ELSEWHERE,
    Stream,
    log_driver_of,
    read_head,
    read_tail,
    stream_of,
)
from ultracluster_runtime.lifecycle import reader
from ultracluster_spec.findings import FindingsError

_LOGS: Final = 3  # nodes whose logs are read: those that ended first
_MULTI_NODE: Final = "the AWS Batch user guide, multi-node parallel jobs"
_RETRIES: Final = "https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html"
_LINES: Final = 1_000  # first and last lines of a log that are searched
_LAST_LINES: Final = 15  # lines of a log that are shown
_LONGEST: Final = 500  # characters of a line that are shown
_ENDED_BY_OTHERS: Final = frozenset({137, 143})  # exit codes of nodes that AWS Batch ends with the main node


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeEnding:
    """How the container of one node ended in its last attempt."""

    node: int | None  # index of the node or of the child of an array; None if the job has only one of them
    failed: bool
    status_reason: str
    reason: str  # reason of the container
    exit_code: int | None
    stopped_at: int  # milliseconds since the epoch; 0 if unknown
    stream: Stream | None  # None if it has not logged
    container: str = ""  # name of the container, if the job has several on one node
    kind: str = "node"  # or child, of an array whose children are jobs of their own
    driver: str = ""  # log driver, if it does not log to Amazon CloudWatch Logs

    @property
    def name(self) -> str:
        """Name of the node in a sentence."""
        if self.node is not None:
            return f"{self.kind} {self.node}"
        return f"container {self.container}" if self.container else "the container"


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """What is known of the log of a node."""

    of: str  # name of the node
    lines: tuple[str, ...]  # first and last lines


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Attempt of a job that has ended or goes wrong."""

    nodes: tuple[NodeEnding, ...]
    logs: tuple[Log, ...]  # logs of the nodes that ended first
    unseen: tuple[str, ...] = ()  # what could not be read, and why

    @property
    def last_lines(self) -> tuple[str, ...]:
        """Last lines of the log of the node that ended first."""
        lines = self.logs[0].lines[-_LAST_LINES:] if self.logs else ()
        return tuple(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines)


def read_failure(job: Mapping[str, Any], *, client: Clients, logs: int = _LOGS) -> Failure:
    """Read how the nodes of a job ended, and the logs of those that ended first.

    What cannot be read is listed in the result and not judged.
    """
    unseen: list[str] = []
    parts: Sequence[Mapping[str, Any]] = ()
    try:
        parts = _parts(job, client)
    except AWS_ERRORS as error:
        unseen.append(f"the nodes of the job: {problem_of(error)}")
    kind = "child" if is_array(job) else "node"
    nodes = tuple(_ending(part, _index(part), kind) for part in parts) or (_ending(job, None, kind),)
    first = sorted(nodes, key=lambda node: (not node.failed, node.stopped_at or float("inf")))
    read = []
    for node in [node for node in first if node.stream][:logs]:
        assert node.stream is not None  # noqa: S101 - for the type checker
        try:
            read.append(Log(of=node.name, lines=tuple(_lines(node.stream, client))))
        except FindingsError:
            read.append(Log(of=node.name, lines=()))  # it wrote no line
        except AWS_ERRORS as error:
            unseen.append(f"the log of {node.name}: {problem_of(error)}")
    return Failure(nodes=nodes, logs=tuple(read), unseen=tuple(unseen))


def _parts(job: Mapping[str, Any], client: Clients) -> Sequence[Mapping[str, Any]]:
    """Return the nodes of a multi-node job, or the children of an array; of a large array those that failed."""
    if is_array(job):
        failed = reader.list_jobs(client("batch"), ["FAILED"], arrayJobId=job["jobId"])
        children = describe_jobs(
            [child["jobId"] for _, child in zip(range(100), failed, strict=False)], client=client
        )
        # Those that waited for another child have not started.
        return [child for child in children if child.get("startedAt") or child.get("attempts")] or children
    return describe_jobs(child_job_ids(job), client=client)


def _index(part: Mapping[str, Any]) -> int:
    """Return the index of a node (JOB#INDEX) or of a child of an array (JOB:INDEX)."""
    return int(part["jobId"].replace("#", ":").partition(":")[2])


def _ending(part: Mapping[str, Any], node: int | None, kind: str) -> NodeEnding:
    container = last_container(part)
    attempt = last_attempt(part)
    return NodeEnding(
        node=node,
        failed=part.get("status") == "FAILED"
        or container.get("exitCode", 0) != 0
        or bool(container.get("reason")),
        status_reason=str(part.get("statusReason") or attempt.get("statusReason", "")),
        reason=str(container.get("reason", "")),
        exit_code=container.get("exitCode"),
        stopped_at=int(part.get("stoppedAt") or attempt.get("stoppedAt", 0)),
        stream=stream_of(part),
        container=str(container.get("name", "")) if len(reader.containers_of_task(part)) > 1 else "",
        kind=kind,
        driver=log_driver_of(part),
    )


def _lines(stream: Stream, client: Clients) -> Iterator[str]:
    lines, _ = read_tail(stream, count=_LINES, client=client)
    head = read_head(stream, count=_LINES, client=client) if len(lines) == _LINES else []
    before = [line for line in head if line.timestamp < lines[0].timestamp]
    return (line.text for line in [*before, *lines] if not line.has_metrics)


def explain_failure(job: Mapping[str, Any], failure: Failure) -> list[Reason]:
    """Return the reasons that the nodes of a job, their exit codes and their logs give, those of AWS first."""
    reasons = [
        *_goes_on_alone(job, failure),
        *_reported(job, failure),
        *_exit_codes(job, failure),
        *_logged(failure),
        *_logged_elsewhere(failure),
        *_attempts(job),
    ]
    unique: dict[str, Reason] = {}
    for reason in reasons:
        unique.setdefault(reason.reason, reason)
    return list(unique.values())


def explain_lost_nodes(job: Mapping[str, Any], *, client: Clients) -> list[Reason]:
    """Return which nodes of a multi-node job failed although the job succeeded, as its main node did."""
    failed = [
        f"{node.name} (exit code {node.exit_code})"
        for node in (_ending(part, _index(part), "node") for part in _parts(job, client))
        if node.exit_code and node.exit_code not in _ENDED_BY_OTHERS
    ]
    return (
        [
            Reason(
                reason="node-failed",
                evidence=f"{_listed(failed)} failed; AWS Batch judges a multi-node job by its main node alone",
                remedy=f"Look at its log: ultracluster jobs logs {job['jobId']} --node N",
                source=_MULTI_NODE,
            )
        ]
        if failed
        else []
    )


def _goes_on_alone(job: Mapping[str, Any], failure: Failure) -> Iterator[Reason]:
    """Yield why a multi-node job may hang: a node ended, and no launcher of ours ends the others."""
    if "nodeProperties" not in job or job.get("status") != "RUNNING":
        return
    main = job["nodeProperties"].get("mainNode", 0)
    ended = [node for node in failure.nodes if node.failed and node.stopped_at]
    if ended and main not in {node.node for node in ended}:
        yield Reason(
            reason="node-ended",
            evidence=f"{_listed([node.name for node in ended])} ended and the job goes on: AWS Batch ends a multi-node job with its main node, which is node {main}",
            remedy=f"If its program waits for them, it waits for ever: ultracluster jobs stop {job['jobId']}",
            source=_MULTI_NODE,
        )


def _reported(job: Mapping[str, Any], failure: Failure) -> Iterator[Reason]:
    own = str(job.get("statusReason") or "")
    if (job.get("isTerminated") or job.get("isCancelled")) and not find_faults([own]):
        remedy = "Submit it again if that was a mistake; it does not resume by itself"
        yield Reason(
            reason="terminated",
            evidence=f"a person or a tool ended it: {own or 'no reason given'}",
            remedy=remedy,
        )
    texts = {own: "AWS Batch reports"} if own else {}
    for node in failure.nodes:
        for text in (node.reason, node.status_reason):
            if text:
                texts.setdefault(text, f"AWS Batch reports of {node.name}")
    for text, who in texts.items():
        for fault, _ in find_faults([text]):
            evidence = f"{fault.means} ({who}: {text})"
            yield Reason(reason=fault.name, evidence=evidence, remedy=fault.remedy, source=fault.source)
        if not find_faults([text]) and text in {node.reason for node in failure.nodes}:
            remedy = "Correct what the message names, and submit the job again"
            yield Reason(reason="container-failed", evidence=f"{who}: {text}", remedy=remedy)


def _exit_codes(job: Mapping[str, Any], failure: Failure) -> Iterator[Reason]:
    codes: dict[int, list[str]] = {}
    for node in failure.nodes:
        if node.exit_code:
            codes.setdefault(node.exit_code, []).append(node.name)
    for code, names in codes.items():
        known = None if code == LOST_NODE and not reader.has_launcher(job) else exit_code(code)
        who = _listed(names)
        yield Reason(
            reason=f"exit-code-{code}",
            evidence=f"{who} ended with exit code {code}: {known.means if known else 'the program chose it'}",
            remedy=known.remedy if known else "The program or its log says what it means",
            source=known.source if known else "",
        )


def _listed(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _logged(failure: Failure) -> Iterator[Reason]:
    for log in failure.logs:
        where = "its log" if log.of == "the container" else f"the log of {log.of}"
        for fault, line in find_faults(log.lines):
            evidence = f"{fault.means} ({where}: {line.strip()[:300]})"
            yield Reason(reason=fault.name, evidence=evidence, remedy=fault.remedy, source=fault.source)


def _logged_elsewhere(failure: Failure) -> Iterator[Reason]:
    for driver in sorted({node.driver for node in failure.nodes if node.driver}):
        yield Reason(
            reason="log-elsewhere",
            evidence=f"its log goes to {driver}, not to Amazon CloudWatch Logs, and was not searched",
            remedy=READ_ELSEWHERE,
        )


def _attempts(job: Mapping[str, Any]) -> Iterator[Reason]:
    """Yield how many attempts of the definition's own retry strategy were made, and why there was no other."""
    strategy = job.get("retryStrategy", {})
    most, made = int(strategy.get("attempts", 1)), len(job.get("attempts", []))
    if most == 1 or not made or job.get("isTerminated"):
        return
    if job.get("status") != "FAILED":
        yield Reason(
            reason="attempts",
            evidence=f"{made} of {most} attempts have failed; the faults above are of the last that ended",
            remedy="Nothing to do: AWS Batch tries it again",
            source=_RETRIES,
        )
    elif made < most:
        ended_by = _condition(job, strategy.get("evaluateOnExit", []))
        yield Reason(
            reason="attempts",
            evidence=f"attempt {made} of {most} was the last"
            + (f": evaluateOnExit of its definition ends it at {ended_by}" if ended_by else ""),
            remedy="If another attempt would help, correct evaluateOnExit, or submit it again",
            source=_RETRIES,
        )
    else:
        yield Reason(
            reason="attempts",
            evidence=f"all {most} attempts of its definition failed; the faults above are of the last",
            remedy="Submit it again when the cause is removed",
            source=_RETRIES,
        )


def _condition(job: Mapping[str, Any], conditions: Sequence[Mapping[str, str]]) -> str:
    """Return the condition that ended a job, as API_EvaluateOnExit matches them: the first whose patterns all match."""
    container = last_container(job)
    code = container.get("exitCode")
    facts = {
        "onStatusReason": str(job.get("statusReason", "")),
        "onReason": str(container.get("reason", "")),
        "onExitCode": "" if code is None else str(code),
    }
    for condition in conditions:
        patterns = {key: condition[key] for key in facts if key in condition}
        if all(_matches(pattern, facts[key]) for key, pattern in patterns.items()):
            return ", ".join(f"{key} {pattern}" for key, pattern in patterns.items())
    return ""


def _matches(pattern: str, text: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
