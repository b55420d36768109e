"""Build the arguments of SubmitJob: overrides that match the definition's node ranges, and a share identifier. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE, RESUME_TAG
from ultracluster_runtime.jobs.dependencies import array_size_of
from ultracluster_spec import job_definitions
from ultracluster_spec.commands import check_parameters, encode_word
from ultracluster_spec.findings import Finding, FindingsError, quote, require
from ultracluster_spec.record import RuleRecord

# SubmitJob, API Reference of AWS Batch, botocore 1.44.5.
_SHARE: Final = re.compile(r"[A-Za-z0-9]{1,255}")
_JOB_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_MOST_PRIORITY: Final = 9_999
_LEAST_TIMEOUT_SECONDS: Final = 60
# With the characters of JSON: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html. SubmitJob takes 30 KiB, and a job
# above this ends with "Container Overrides length must be at most 8192" (https://github.com/ASFHyP3/hyp3/issues/3041, 2026-03-09).
_MOST_OVERRIDES: Final = 8_192


def submission(
    *,
    name: str,
    queue: str,
    definition: Mapping[str, Any],  # as AWS Batch describes it
    fair_share: bool,
    most_nodes: int | None,  # maximum number of nodes of the queue, if known
    nodes: int | None = None,
    share: str | None = None,  # default: DEFAULT_SHARE if the queue needs one
    environment: Mapping[str, str] | None = None,  # more variables, on every node
    priority: int | None = None,  # within the share, 0 to 9,999
    timeout_seconds: int | None = None,  # of an attempt, 60 or more
    command: Sequence[str] = (),  # the launcher in front of it stays
    after: Sequence[str] = (),  # IDs of the jobs that have to succeed first
    array_size: int | None = None,
    resume: int | None = None,  # how often it is submitted again after a drain or the loss of a node
    launcher: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the arguments of SubmitJob, or raise all problems.

    A default of None is that of the definition.
    """
    variables = dict(environment or {})
    size = array_size_of(definition) if array_size is None else array_size
    findings = [
        *_check_names(name=name, share=share, fair_share=fair_share),
        *_check_priority(definition, priority=priority, fair_share=fair_share),
        *_check_numbers(priority=priority, timeout_seconds=timeout_seconds),
        *job_definitions.check_variables(variables, path="--env "),
        *check_parameters(command, path="COMMAND"),
        *_check_nodes(definition, nodes=nodes, most_nodes=most_nodes),
        *job_definitions.check_dependencies(after, tagged=False, path="--depends-on"),
        *_check_array(definition, array_size),
        *_check_resume(resume, size),
    ]
    overrides = _overrides(definition, nodes=nodes, variables=variables, command=command, launcher=launcher)
    findings += _check_size(overrides)
    if findings:
        raise FindingsError(findings)
    arguments: dict[str, Any] = {
        "jobName": name,
        "jobQueue": queue,
        "jobDefinition": definition["jobDefinitionArn"],
        **overrides,
    }
    if fair_share:
        arguments["shareIdentifier"] = share or DEFAULT_SHARE
        # AWS Batch refuses a job on a queue with shares that has no priority from anywhere (nextflow#3505).
        if priority is None and definition.get("schedulingPriority") is None:
            priority = 0
    if after:
        arguments["dependsOn"] = [{"jobId": job_id} for job_id in after]
    if size is not None:
        arguments["arrayProperties"] = {"size": size}
    if priority is not None:
        arguments["schedulingPriorityOverride"] = priority
    if timeout_seconds is not None:
        arguments["timeout"] = {"attemptDurationSeconds": timeout_seconds}
    job_tags = dict(tags or {}) | ({} if resume is None else {RESUME_TAG: str(resume)})
    if job_tags:
        arguments["tags"] = job_tags
    return arguments


def _overrides(
    definition: Mapping[str, Any],
    *,
    nodes: int | None,
    variables: Mapping[str, str],
    command: Sequence[str],
    launcher: str | None,
) -> dict[str, Any]:
    def container(defined: Mapping[str, Any]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if variables:
            changes["environment"] = [
                {"name": key, "value": value} for key, value in sorted(variables.items())
            ]
        if command:
            changes["command"] = _launched(defined.get("command", []), command, launcher)
        return changes

    if "nodeProperties" not in definition:
        changes = container(definition.get("containerProperties", {}))
        return {"containerOverrides": changes} if changes else {}
    overrides: dict[str, Any] = {} if nodes is None else {"numNodes": nodes}
    if variables or command:
        # AWS Batch accepts overrides only for exactly the node ranges of the definition.
        overrides["nodePropertyOverrides"] = [
            {
                "targetNodes": node_range["targetNodes"],
                "containerOverrides": container(node_range.get("container", {})),
            }
            for node_range in definition["nodeProperties"]["nodeRangeProperties"]
        ]
    return {"nodeOverrides": overrides} if overrides else {}


def _check_size(overrides: Mapping[str, Any]) -> list[Finding]:
    """Check what changes each container (UC6211): SubmitJob takes more, and the job fails when its task starts."""
    ranges = overrides.get("nodeOverrides", {}).get("nodePropertyOverrides", [overrides])
    sizes = [
        len(json.dumps({"containerOverrides": [each.get("containerOverrides", {})]}, separators=(",", ":")))
        for each in ranges
    ]
    return require(
        max(sizes, default=0) <= _MOST_OVERRIDES,
        "UC6211",
        f"got {max(sizes, default=0):,} characters with the command and --env, and the job would fail when it starts",
        allowed=f"up to {_MOST_OVERRIDES:,} characters",
        remedy="Put long settings into a file that the job reads, or into the definition of the job",
        path="COMMAND",
    )


def _launched(defined: Sequence[str], command: Sequence[str], launcher: str | None) -> list[str]:
    """Prefix a command with the launcher of the definition, without which nodes would not find each other."""
    if LAUNCHER_PATH not in defined:
        return list(command)
    # Form of a command: [neuron_parallel_compile] python3 PATH KIND WORDS.
    place = defined.index(LAUNCHER_PATH) + 1
    return [*defined[:place], launcher or defined[place], *map(encode_word, command)]


def refuse_option(option: str, got: str, *, allowed: str = "", remedy: str = "") -> Finding:
    """Return the finding (UC6204) about an option of a submission."""
    return Finding(code="UC6204", problem=f"got {got}", allowed=allowed, remedy=remedy, path=option)


def _check_names(*, name: str, share: str | None, fair_share: bool) -> list[Finding]:
    findings = []
    if not _JOB_NAME.fullmatch(name):
        allowed = "1 to 128 letters, digits, hyphens and underscores, starting with a letter or digit"
        findings.append(refuse_option("--name", quote(name), allowed=allowed))
    if share is not None and not fair_share:
        findings.append(_refuse_without_shares("--share", share))
    elif share is not None and not _SHARE.fullmatch(share):
        findings.append(refuse_option("--share", quote(share), allowed="1 to 255 letters and digits"))
    return findings


def _refuse_without_shares(option: str, value: object) -> Finding:
    got = f"{quote(value)}, and the queue has no fair-share policy"
    return refuse_option(option, got, remedy="Omit it")


def _check_priority(
    definition: Mapping[str, Any], *, priority: int | None, fair_share: bool
) -> list[Finding]:
    """Check for share settings, also of the definition, that AWS Batch refuses on a queue without shares."""
    if fair_share:
        return []
    if priority is not None:
        return [_refuse_without_shares("--priority", priority)]
    if definition.get("schedulingPriority") is not None:
        problem = "the job definition has a scheduling priority, which needs a queue with a fair-share policy"
        remedy = "Submit it to the queue that it was defined for"
        return [Finding(code="UC6204", problem=problem, remedy=remedy, path="--queue")]
    return []


def _check_numbers(*, priority: int | None, timeout_seconds: int | None) -> list[Finding]:
    findings = []
    if priority is not None and not 0 <= priority <= _MOST_PRIORITY:
        findings.append(refuse_option("--priority", quote(priority), allowed=f"0 to {_MOST_PRIORITY:,}"))
    if timeout_seconds is not None and timeout_seconds < _LEAST_TIMEOUT_SECONDS:
        allowed = f"{_LEAST_TIMEOUT_SECONDS} seconds or more"
        findings.append(refuse_option("--timeout", f"{timeout_seconds} seconds", allowed=allowed))
    return findings


def _check_nodes(
    definition: Mapping[str, Any], *, nodes: int | None, most_nodes: int | None
) -> list[Finding]:
    if nodes is None:
        return []
    if "nodeProperties" not in definition:
        got = f"{quote(nodes)} for a single-container job"
        return [refuse_option("--nodes", got, remedy="Omit it")]
    if findings := job_definitions.check_nodes_fit(nodes, most_nodes, path="--nodes"):
        return findings
    ranges = [node_range["targetNodes"] for node_range in definition["nodeProperties"]["nodeRangeProperties"]]
    if not any(node_range.endswith(":") for node_range in ranges):
        problem = f"the definition has a fixed number of nodes: {', '.join(ranges)}"
        remedy = 'Use a definition with an open-ended range such as "0:"'
        return [Finding(code="UC6204", problem=problem, remedy=remedy, path="--nodes")]
    return []


def _check_resume(resume: int | None, array_size: int | None) -> list[Finding]:
    if resume is None:
        return []
    if resume and array_size is not None:
        return [finding.at("--resume") for finding in job_definitions.refuse_resume("an array")]
    return job_definitions.RESUME.check(resume, path="--resume")


def _check_array(definition: Mapping[str, Any], size: int | None) -> list[Finding]:
    if size is None:
        return []
    if "nodeProperties" in definition:
        problem = f"got {quote(size)} for a multi-node job, which cannot be an array"
        return [
            Finding(
                code=job_definitions.ARRAY_SIZE.code, problem=problem, remedy="Omit it", path="--array-size"
            )
        ]
    return job_definitions.ARRAY_SIZE.check(size, path="--array-size")


RECORDS: Final = (
    RuleRecord(
        "UC6204",
        "A job is submitted with values that AWS Batch accepts.",
        remedy="Specify what the finding allows: durations such as 90m or 2h, names of letters, digits, hyphens and underscores, a share only for a queue with fair shares.",
        source="botocore 1.44.5, Batch SubmitJob, 2026.",
    ),
    RuleRecord(
        "UC6211",
        "A submission changes no more of a container than Amazon ECS takes.",
        remedy="Put long settings into a file that the job reads, or into the definition of the job, which takes 24 KiB.",
        source='https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html; AWS Batch takes the submission, and the job fails with "Container Overrides length must be at most 8192" (https://github.com/ASFHyP3/hyp3/issues/3041, 2026-03-09).',
    ),
)
