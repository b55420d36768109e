"""What a plan knows to be safe: a row for each property that may change, with the harm that its condition excludes.

All other changes of what buys, runs, drains, alarms, notifies, pays or keeps data stop the deployment.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_catalog.names.submission_tags import AFTER_TAG, ARRAY_SIZE_TAG, RESUME_TAG
from ultracluster_catalog.neuron.neuron import TORCHNEURON_CACHE_VARIABLE, XLA_CACHE_VARIABLE
from ultracluster_stacks.plan.assets import ASSET_HASH
from ultracluster_stacks.plan.changes import GOES, ResourceUpdate, Stop, StopKind
from ultracluster_stacks.plan.expressions import canonical, differences, is_expression, macros, references
from ultracluster_stacks.plan.permissions import POLICY_TYPES, is_judged
from ultracluster_stacks.plan.resource_updates import (
    ASSOCIATION,
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    FILE_SYSTEM,
    NETWORK_TYPES,
    QUEUE,
    SCALING_PROPERTIES,
    STATEFUL,
    PropertyPath,
    is_custom,
)

ALARM: Final = "AWS::CloudWatch::Alarm"
FUNCTION: Final = "AWS::Lambda::Function"
LAUNCH_TEMPLATE: Final = "AWS::EC2::LaunchTemplate"
_BUCKET: Final = "AWS::S3::Bucket"
_JOB: Final = "AWS::Batch::JobDefinition"
_RULE: Final = "AWS::Events::Rule"
_SUBSCRIPTION: Final = "AWS::SNS::Subscription"
_TOPIC: Final = "AWS::SNS::Topic"
_CLUSTER_TAGS: Final = "ultracluster:"
_SHOWN: Final = 50  # characters of a value


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A property that differs, with the change of its resource."""

    path: PropertyPath
    before: Any
    after: Any
    update: ResourceUpdate

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Both values, if both are numbers."""
        try:
            return float(self.before), float(self.after)
        except (TypeError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Row:
    """When a property may change, and what would happen otherwise."""

    safe: Callable[[Difference], bool]
    harm: str

    def allows(self, change: Difference) -> bool:
        """Return whether a change is safe; what the condition cannot read is not."""
        try:
            return self.safe(change)
        except (AttributeError, LookupError, TypeError, ValueError):
            return False


def _any(_: Difference) -> bool:
    return True


def _never(_: Difference) -> bool:
    return False


def _more(change: Difference) -> bool:
    return _grows(change.before, change.after)


def _more_than_none(change: Difference) -> bool:
    return _more(replace(change, before=1) if change.before is None else change)


def _more_room(change: Difference) -> bool:
    """Whether the temporary files of a function have as much room as before, 512 MB without a setting."""
    sizes = [(side or {}).get("Size", 512) for side in (change.before, change.after)]
    return _more(replace(change, before=sizes[0], after=sizes[1]))


def _at_most_doubles(change: Difference) -> bool:
    numbers = change.numbers
    return numbers is not None and numbers[0] <= numbers[1] <= 2 * numbers[0]


def _less(change: Difference) -> bool:
    return _grows(change.after, change.before)


def _longer(change: Difference) -> bool:
    return change.after is None or _more(change)


def _on(change: Difference) -> bool:
    return str(change.after).lower() in {"true", "enabled"}


def _off(change: Difference) -> bool:
    return str(change.after).lower() in {"false", "none"}


def _becomes(*values: str) -> Callable[[Difference], bool]:
    return lambda change: change.after in values


def _contains_all(change: Difference) -> bool:
    """Whether a list keeps all that it had."""
    after = canonical(change.after or [])
    return isinstance(after, list) and all(item in after for item in canonical(change.before or []))


def _keeps_our_tags(change: Difference) -> bool:
    """Whether the tags that costs, roles and alarms look for stay as they are."""
    old, new = (_tags(side) for side in (change.before, change.after))
    return all(
        new.get(key) == value or (isinstance(value, str) and value in change.update.idle_blocks)
        for key, value in old.items()
        if key.startswith(_CLUSTER_TAGS)
    )


def _tags(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    return {str(tag.get("Key")): tag.get("Value") for tag in value or [] if isinstance(tag, Mapping)}


def _of_people(change: Difference) -> bool:
    """Whether a tag is none of ours."""
    return not change.path[-1].startswith(_CLUSTER_TAGS)


def _launch_data(update: ResourceUpdate, template: Any) -> Mapping[str, Any]:
    names = [reference.name for reference in references(template)]
    resource = update.new_resources.get(names[0], {}) if names else {}
    data: Mapping[str, Any] = (resource.get("Properties") or {}).get("LaunchTemplateData") or {}
    return data


def is_bounded(update: ResourceUpdate) -> bool:
    """Return whether what starts nodes can only start those of a reservation, which are paid anyway."""
    resources = update.new.get("ComputeResources") or update.new
    if update.new.get("Type") == "UNMANAGED":
        return True
    data = _launch_data(update, (resources.get("LaunchTemplate") or {}).get("LaunchTemplateId"))
    target = (data.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget")
    return bool(target)


def _most_nodes(change: Difference) -> bool:
    return _more(change) if is_bounded(change.update) else change.before is None or _less(change)


def _paid_anyway(change: Difference) -> bool:
    return is_bounded(change.update) and _more(change)


def _appends_bounded(change: Difference) -> bool:
    """Whether a queue only gets further environments, whose nodes are paid anyway, behind those that it has."""
    old, new = canonical(change.before or []), canonical(change.after or [])
    resources = change.update.new_resources
    added = [reference.name for item in new[len(old) :] for reference in references(item)]
    return (
        new[: len(old)] == old
        and len(added) == len(new) - len(old)
        and all(is_bounded(_as_added(change.update, resources.get(name, {}))) for name in added)
    )


def _as_added(update: ResourceUpdate, resource: Mapping[str, Any]) -> ResourceUpdate:
    return replace(update, before={}, after=resource)


def _waits_longer(change: Difference) -> bool:
    """Whether a queue cancels nothing that it did not cancel, and nothing sooner."""
    old = {(rule.get("Reason"), rule.get("State")): rule for rule in change.before or []}
    return all(
        (same := old.get((rule.get("Reason"), rule.get("State")))) is not None
        and rule.get("Action") == same.get("Action")
        and float(rule.get("MaxTimeSeconds", 0)) >= float(same.get("MaxTimeSeconds", 0))
        for rule in change.after or []
    )


def _new_nodes_by_batch(change: Difference) -> bool:
    """Whether AWS Batch starts the nodes, for which the plan knows what a new launch template does to running jobs."""
    return not any(
        change.update.change.logical_id in {reference.name for reference in references(resource)}
        for resource in change.update.new_resources.values()
        if resource.get("Type") == AUTO_SCALING_GROUP
    )


def _same_repository(change: Difference) -> bool:
    return _repository(change.before) == _repository(change.after)


def _repository(image: Any) -> str:
    text = image if isinstance(image, str) else json.dumps(canonical(image), sort_keys=True)
    return re.sub(r"(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?(?=\"?\]*\}*$)", "", text, count=1)


def _keeps_launcher(change: Difference) -> bool:
    """Whether the launcher, which passes on checkpoints and reports steps, still starts the program."""
    old, new = change.before or [], change.after or []
    return isinstance(new, list) and (LAUNCHER_PATH not in old or LAUNCHER_PATH in new)


def _program_variables(change: Difference) -> bool:
    """Whether only variables of people's programs differ, not those that say where calls of AWS and collectives go."""
    old, new = (
        {
            str(item.get("Name")): canonical(item.get("Value"))
            for item in side or []
            if isinstance(item, Mapping)
        }
        for side in (change.before, change.after)
    )
    return all(old.get(name) == new.get(name) or not _FIXED_VARIABLE.match(name) for name in {*old, *new})


def _mounts_to_read(change: Difference) -> bool:
    """Whether mounts are only added, and programs only read them."""
    old, new = (canonical(side or []) for side in (change.before, change.after))
    added = [item for item in new if item not in old]
    return all(item in new for item in old) and all(item.get("ReadOnly") is True for item in added)


def _folders_inside(change: Difference) -> bool:
    """Whether volumes are only added, and are folders inside of those that the job has."""
    old, new = (canonical(side or []) for side in (change.before, change.after))
    known = tuple(f"{item['Host']['SourcePath']}/" for item in old if "Host" in item)
    paths = [str((item.get("Host") or {}).get("SourcePath")) for item in new if item not in old]
    inside = all(path.startswith(known) and ".." not in path for path in paths)
    return inside and all(item in new for item in old)


# Besides: a compile cache holds programs, which whoever writes it can put into the job.
_FIXED_VARIABLE: Final = re.compile(
    rf"AWS_|FI_PROVIDER$|UC_CLUSTER$|UC_JOB$|LD_|PYTHON|{XLA_CACHE_VARIABLE}$|{TORCHNEURON_CACHE_VARIABLE}$"
)


def _has_room(change: Difference) -> bool:
    """Whether the nodes of a job fit into an environment of its stack."""
    needed = [
        float(item.get("Value", 0)) * float(change.after or 0)
        for group in change.update.new.get("NodeProperties", {}).get("NodeRangeProperties", [])[:1]
        for item in (group.get("Container") or {}).get("ResourceRequirements") or []
        if item.get("Type") == "VCPU"
    ]
    most = max(
        (
            float(
                (properties.get("ComputeResources") or {}).get("MaxvCpus")
                or properties.get("UnmanagedvCpus")
                or 0
            )
            for resource in change.update.new_resources.values()
            if resource.get("Type") == COMPUTE_ENVIRONMENT
            for properties in [resource.get("Properties") or {}]
        ),
        default=0.0,
    )
    return (change.after is not None and float(change.after) >= 1) and (
        _less(change) or (bool(needed) and needed[0] <= most)
    )


def _retries_more(change: Difference) -> bool:
    """Whether a job that is retried already is retried more often, and still for the reasons only that its strategy names."""
    rules = change.update.new["RetryStrategy"]["EvaluateOnExit"]
    return (
        int(change.before) > 1
        and _more(change)
        and str(rules[-1]["Action"]).upper() == "EXIT"
        and rules[-1].get("OnReason") == "*"
    )


def _python_not_older(change: Difference) -> bool:
    versions = [re.fullmatch(r"python3\.(\d+)", str(side)) for side in (change.before, change.after)]
    return all(versions) and int(versions[1][1]) >= int(versions[0][1])  # type: ignore[index]


def _new_asset(change: Difference) -> bool:
    return all(ASSET_HASH.search(str(side)) for side in (change.before, change.after))


def _idle_or(test: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    """Whether nothing runs in the Capacity Block of a function, or a test holds."""
    return lambda change: change.update.block == "idle" or test(change)


def _waits_for_more(change: Difference) -> bool:
    return set(str(change.before or "").split()) <= set(str(change.after or "").split())


def _serves_more(change: Difference) -> bool:
    """Whether a variable that lists resources keeps all that it listed."""
    old, new = (_parts(side) for side in (change.before, change.after))
    return all(part in new or part in change.update.idle_blocks for part in old)


def _parts(value: Any) -> set[str]:
    value = canonical(value or "")
    fragments = value["Fn::Join"][1] if isinstance(value, Mapping) and "Fn::Join" in value else [value]
    return {
        part.strip()
        for fragment in fragments
        for part in (
            fragment.split(",") if isinstance(fragment, str) else [json.dumps(fragment, sort_keys=True)]
        )
        if part.strip()
    }


def _added_of_ours(change: Difference) -> bool:
    return change.before is None and change.path[-1].startswith("UC_")


def _looks_for_more(change: Difference) -> bool:
    """Whether a watch for capacity still finds each block that it found, at each price, for as long."""
    old, new = (json.loads(side) for side in (change.before, change.after))
    return (
        all(new.pop(name) >= old.pop(name) for name in ("max_usd", "start_before", "until"))
        and new.pop("start_after") <= old.pop("start_after")
        and all(set(old.pop(name)) <= set(new.pop(name)) for name in ("counts", "regions"))
        and bool(old == new)
    )


_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}


def _as_often(change: Difference) -> bool:
    return _minutes(change.after) <= _minutes(change.before) < float("inf")


def _minutes(expression: Any) -> float:
    """Return the minutes between two runs of a rule; infinite if unknown."""
    if rate := re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", str(expression)):
        return int(rate[1]) * _MINUTES[rate[2]]
    if cron := re.fullmatch(r"cron\((?:\*|\*/(\d+)|0/(\d+)) \* \* \* \? \*\)", str(expression)):
        return int(cron[1] or cron[2] or 1)
    return float("inf")


def _matches_as_much(change: Difference) -> bool:
    return _covers(change.after, change.before, change.update)


def _covers(new: Any, old: Any, update: ResourceUpdate) -> bool:
    """Return whether a pattern of events matches all that another matches; a pattern that is gone matches none."""
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        return new.keys() == old.keys() and all(
            _covers(part, old[name], update) for name, part in new.items()
        )
    if isinstance(new, list) and isinstance(old, list):
        return all(item in canonical(new) or item in update.idle_blocks for item in canonical(old))
    return bool(canonical(new) == canonical(old))


def _keeps_targets(change: Difference) -> bool:
    """Whether a rule starts all that it started, in the same way, and else only functions of its stack."""
    old, new = canonical(change.before or []), canonical(change.after or [])
    return all(item in new for item in old) and all(
        item in old or _starts_own(item, change.update) for item in new
    )


def _starts_own(target: Mapping[str, Any], update: ResourceUpdate) -> bool:
    return target.keys() <= {"Arn", "Id", "RetryPolicy"} and _is_own(
        target.get("Arn"), update, FUNCTION, _TOPIC
    )


def _is_own(value: Any, update: ResourceUpdate, *types: str) -> bool:
    """Return whether a value is a reference to a resource of the stack of one of these types."""
    return is_expression(value) and any(
        update.new_resources.get(reference.name, {}).get("Type") in types for reference in references(value)
    )


def _tells_more(change: Difference) -> bool:
    """Whether all recipients stay, and only topics that our templates define are added."""
    added = [item for item in canonical(change.after or []) if item not in canonical(change.before or [])]
    return _contains_all(change) and all(_is_topic(item, change.update) for item in added)


def _is_topic(value: Any, update: ResourceUpdate) -> bool:
    imported = isinstance(value, Mapping) and "Fn::ImportValue" in value
    return imported or _is_own(value, update, _TOPIC)


def _fires_earlier(change: Difference) -> bool:
    """Whether a threshold is met earlier, and not by everything."""
    numbers = change.numbers
    if numbers is None or numbers[1] <= 0:
        return False
    operator = str(change.update.new.get("ComparisonOperator"))
    before, after = numbers
    return (
        before >= after >= before / 10 if operator.startswith("Greater") else before <= after <= before * 10
    )


def _fires_sooner(change: Difference) -> bool:
    """Whether an alarm waits for no more points, and may miss as many."""
    try:
        (points, of), (new_points, new_of) = map(_points, (change.update.old, change.update.new))
    except (TypeError, ValueError):
        return False
    return 1 <= new_points <= points and new_of - new_points >= of - points


def _points(alarm: Mapping[str, Any]) -> tuple[int, int]:
    of = int(alarm.get("EvaluationPeriods", 1))
    return int(alarm.get("DatapointsToAlarm") or of), of


def _rings_for_more(change: Difference) -> bool:
    """Whether a composite alarm still rings for each alarm that it rang for: a rule of alarms joined by OR."""
    old, new = canonical(change.before), canonical(change.after)
    words = "".join(part for part in _fragments(new) if isinstance(part, str))
    return _serves_more(change) and not re.sub(r'[\s()"]|ALARM|OR', "", words) and type(old) is type(new)


def _fragments(value: Any) -> list[Any]:
    return list(value["Fn::Join"][1]) if isinstance(value, Mapping) and "Fn::Join" in value else [value]


def _warns_more(change: Difference) -> bool:
    """Whether each warning of a budget stays, as early and to as many, and new ones only tell people."""
    acting = _acting_topics(change.update)
    old, new = canonical(change.before or []), canonical(change.after or [])
    return all(any(_warns_as(item, other) for other in new) for item in old) and all(
        item in old
        or not {reference.name for reference in references(item)} & acting
        or any(_same_threshold(item, other) and _warns_as(other, item) for other in old)
        for item in new
    )


def _acting_topics(update: ResourceUpdate) -> set[str]:
    """Return the topics whose messages start a function, such as one that closes queues."""
    return {
        reference.name
        for resource in update.new_resources.values()
        if resource.get("Type") == _SUBSCRIPTION and resource["Properties"].get("Protocol") == "lambda"
        for reference in references(resource["Properties"].get("TopicArn"))
    }


def _warns_as(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    before, after = (dict(side.get("Notification") or {}) for side in (old, new))
    limits = [float(side.pop("Threshold", 0)) for side in (before, after)]
    people = [side.get("Subscribers") or [] for side in (old, new)]
    return before == after and 0 < limits[1] <= limits[0] and all(item in people[1] for item in people[0])


def _same_threshold(item: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return item.get("Notification") == other.get("Notification")


def _keeps_objects(change: Difference) -> bool:
    """Whether the rules of a bucket delete nothing sooner than before, and move nothing."""
    old, new = change.before or [], change.after or []
    if not (change.update.old.get("VersioningConfiguration") or {}).get("Status") and isinstance(new, list):
        # Before the bucket had versions, nothing was overwritten that a rule could still delete.
        new = [{key: part for key, part in rule.items() if not key.startswith("Noncurrent")} for rule in new]
    return isinstance(new, list) and all(_keeps_longer(rule, old) for rule in new)


# Parts of lifecycle rules of buckets: those that delete no objects, and those whose numbers delay it.
_HARMLESS: Final = frozenset({"AbortIncompleteMultipartUpload", "Id", "Prefix", "Status"})
_DAYS: Final = frozenset({"ExpirationInDays", "NewerNoncurrentVersions", "NoncurrentDays"})


def _keeps_longer(rule: Mapping[str, Any], old_rules: list[Mapping[str, Any]]) -> bool:
    """Return whether a rule of a bucket deletes nothing sooner than one of the old rules."""
    if rule.get("Status") != "Enabled" or not rule.keys() - _HARMLESS:
        return True
    return any(
        all(
            path[0] in _HARMLESS or (path[-1] in _DAYS and (new is None or _grows(before, new)))
            for path, before, new in differences(old, rule)
        )
        for old in old_rules
    )


def _grows(before: Any, after: Any) -> bool:
    try:
        return float(after) >= float(before)
    except (TypeError, ValueError):
        return False


def _own_key(change: Difference) -> bool:
    """Whether a bucket keeps its key, or gets one that the templates define or that its stack used before."""
    keys = [
        re.findall(r'"KMSMasterKeyID": ("[^"]+"|\{.*?\})', json.dumps(canonical(side)))
        for side in (change.before, change.after)
    ]
    if keys[0] and keys[0] != keys[1]:
        return False
    used = json.dumps(canonical(change.update.old_resources))
    return all(key.startswith("{") or key in used for key in keys[1])


def _carries_as_much(change: Difference) -> bool:
    """Whether an association carries over all that it did, and does not begin to carry over deletions."""
    old, new = ((side or {}).get("Events") or [] for side in (change.before, change.after))
    return set(old) <= set(new) and ("DELETED" not in new or "DELETED" in old)


_ONLY_GROWS: Final = "it cannot be decreased; the service refuses it"
_GROWS_FAR: Final = "it more than doubles, is paid from then on and cannot be decreased again"
_WORDS: Final = Row(_any, "")
_EMPTY: Final = "paid nodes would stay empty"
_TOLD: Final = "notifications would no longer reach their recipients, or would reach others"

_CONTAINER: Final[Mapping[PropertyPath, Row]] = {
    ("Command",): Row(_keeps_launcher, "nothing would ask the program for a checkpoint or report its steps"),
    ("Image",): Row(_same_repository, "an image of another repository would run with the rights of the job"),
    ("Environment",): Row(_program_variables, "calls of AWS or collectives would go elsewhere"),
    ("MountPoints",): Row(_mounts_to_read, "programs would lose a folder, or write to one of the node"),
    ("Volumes",): Row(_folders_inside, "programs would lose a folder, or see others of the node"),
    ("LinuxParameters", "SharedMemorySize"): Row(_more, "programs that need the memory would fail"),
}
_TAGS_BY_NAME: Final[Mapping[PropertyPath, Row]] = {
    ("Tags", "*"): Row(_of_people, "costs, roles and commands find it by this tag"),
}

SAFE: Final[Mapping[str, Mapping[PropertyPath, Row]]] = {
    # What starts and ends nodes.
    AUTO_SCALING_GROUP: {
        ("MaxSize",): Row(_paid_anyway, _EMPTY),
        ("LaunchTemplate", "Version"): Row(_more, "nodes would start from an older launch template"),
        ("MetricsCollection",): Row(_any, ""),
    },
    COMPUTE_ENVIRONMENT: {
        ("State",): Row(_on, _EMPTY),
        ("UnmanagedvCpus",): Row(_more, "shares would be computed for fewer nodes"),
        ("ComputeResources", "MaxvCpus"): Row(
            _most_nodes, "paid nodes of a reservation would stay empty, or more be bought at list price"
        ),
        ("ComputeResources", "BidPercentage"): Row(_less, "more would be paid for each hour"),
        ("ComputeResources", "Ec2Configuration", "*", "ImageIdOverride"): _WORDS,
        ("ComputeResources", "ImageId"): _WORDS,
        ("ComputeResources", "ScalingPolicy", "MinScaleDownDelayMinutes"): Row(
            _paid_anyway, "nodes would end between two jobs, or idle ones be paid for longer"
        ),
        ("UpdatePolicy", "JobExecutionTimeoutMinutes"): Row(_more, "the next update would end jobs earlier"),
        ("UpdatePolicy", "TerminateJobsOnUpdate"): Row(_off, "the next update would end running jobs"),
    },
    LAUNCH_TEMPLATE: {
        ("LaunchTemplateData", "TagSpecifications", "*", "Tags"): Row(
            _keeps_our_tags, "costs, roles and alarms find nodes by these tags"
        ),
        ("LaunchTemplateData", "BlockDeviceMappings", "*", "Ebs", "VolumeSize"): Row(
            _more, "images might no longer fit onto the disk"
        ),
        (
            *("LaunchTemplateData", "CapacityReservationSpecification"),
            *("CapacityReservationTarget", "CapacityReservationId"),
        ): Row(_never, "nodes would start in another reservation, and the paid one stay empty"),
        ("LaunchTemplateData", "ImageId"): Row(
            _new_nodes_by_batch,
            "the next nodes of the group would boot another image, which nothing has checked",
        ),
    },
    # What places and describes jobs.
    QUEUE: {
        ("State",): Row(_on, "the queue would take no more jobs"),
        ("Priority",): Row(_more, "its jobs would wait behind those of other queues"),
        ("ComputeEnvironmentOrder",): Row(
            _appends_bounded, "jobs would run elsewhere, or instances be bought before paid ones are used"
        ),
        ("JobStateTimeLimitActions",): Row(_waits_longer, "waiting jobs would be cancelled"),
        **_TAGS_BY_NAME,
    },
    "AWS::Batch::SchedulingPolicy": _TAGS_BY_NAME,
    _JOB: {
        ("NodeProperties", "NumNodes"): Row(
            _has_room, "the job would wait for nodes that the cluster cannot have"
        ),
        ("Timeout", "AttemptDurationSeconds"): Row(_longer, "AWS Batch would end the job earlier"),
        ("RetryStrategy", "Attempts"): Row(
            _retries_more, "the job would give up earlier, or its program be repeated where it was not"
        ),
        ("SchedulingPriority",): Row(_any, ""),
        ("Parameters",): Row(_any, ""),
        ("Tags", AFTER_TAG): Row(_waits_for_more, "the job would no longer wait for its gates or other jobs"),
        ("Tags", ARRAY_SIZE_TAG): _WORDS,
        ("Tags", RESUME_TAG): Row(_more_than_none, "a job that is drained would come back less often"),
        **_TAGS_BY_NAME,
        **{
            (*prefix, *path): row
            for prefix in (
                ("ContainerProperties",),
                ("NodeProperties", "NodeRangeProperties", "*", "Container"),
            )
            for path, row in _CONTAINER.items()
        },
    },
    # What drains, resumes and watches.
    FUNCTION: {
        ("Code", "S3Key"): Row(_new_asset, "the code would come from elsewhere"),
        ("MemorySize",): Row(_more_than_none, "the function might be ended for lack of memory"),
        ("EphemeralStorage",): Row(_more_room, "the function might find no room for its files"),
        ("Timeout",): Row(_idle_or(_more_than_none), "the function has less time to do its work"),
        ("Runtime",): Row(_python_not_older, "the runtime is not known to run the code"),
        ("ReservedConcurrentExecutions",): Row(_longer, "the function runs less often, or never"),
        ("TracingConfig",): Row(_any, ""),
        ("Environment", "Variables", "UC_CHECKPOINT_LEAD_SECONDS"): Row(
            _idle_or(_more), "jobs would end without the time for a checkpoint"
        ),
        ("Environment", "Variables", "UC_WITHOUT_RESERVATION"): Row(_becomes("yes"), "less would be watched"),
        **{
            ("Environment", "Variables", name): Row(
                _idle_or(_serves_more), "the function would leave something alone"
            )
            for name in (
                "UC_ADDITIONAL_JOB_QUEUES",
                "UC_INSTANCE_PROFILES",
                "UC_JOB_QUEUES",
                "UC_RESERVATIONS",
            )
        },
        ("Environment", "Variables", "UC_STANDING_ORDER"): Row(
            _looks_for_more, "it would no longer report blocks that it reports now"
        ),
        ("Environment", "Variables", "*"): Row(
            _idle_or(_added_of_ours), "the function would look after something else, or in another way"
        ),
    },
    _RULE: {
        ("State",): Row(_on, "the rule is switched off"),
        ("ScheduleExpression",): Row(_as_often, "the rule runs less often"),
        ("EventPattern",): Row(_matches_as_much, "the rule matches fewer events"),
        ("Targets",): Row(_keeps_targets, "the rule starts something else, or sends it something else"),
    },
    # What warns and tells people, and what counts costs.
    ALARM: {
        ("AlarmDescription",): _WORDS,
        ("Threshold",): Row(_fires_earlier, "the alarm would fire later, never, or always"),
        ("EvaluationPeriods",): Row(_fires_sooner, "the alarm would fire later"),
        ("DatapointsToAlarm",): Row(_fires_sooner, "the alarm would fire later"),
        ("ActionsEnabled",): Row(_on, "the alarm no longer sends notifications"),
        **{(f"{name}Actions",): Row(_tells_more, _TOLD) for name in ("Alarm", "OK", "InsufficientData")},
    },
    "AWS::CloudWatch::CompositeAlarm": {
        ("AlarmDescription",): _WORDS,
        ("AlarmRule",): Row(_rings_for_more, "alarms of the cluster would no longer show"),
        ("ActionsEnabled",): Row(_on, "the alarm no longer sends notifications"),
        **{(f"{name}Actions",): Row(_tells_more, _TOLD) for name in ("Alarm", "OK", "InsufficientData")},
    },
    _TOPIC: {("DisplayName",): _WORDS, ("TracingConfig",): Row(_any, "")},
    "AWS::Budgets::Budget": {
        ("NotificationsWithSubscribers",): Row(
            _warns_more, "people would be warned later, or queues closed earlier"
        ),
        ("ResourceTags",): Row(_keeps_our_tags, "the budget is found by this tag"),
    },
    # What keeps data: the paths are parameters of the service's update operation (tests/unit/stacks/plan).
    FILE_SYSTEM: {
        ("StorageCapacity",): Row(_at_most_doubles, _ONLY_GROWS),
        ("LustreConfiguration", "PerUnitStorageThroughput"): Row(
            _more, "reading and writing would be slower"
        ),
        ("LustreConfiguration", "DataCompressionType"): Row(
            _any, ""
        ),  # of files that are written from then on
        ("LustreConfiguration", "MetadataConfiguration", "Iops"): Row(_at_most_doubles, _ONLY_GROWS),
        ("LustreConfiguration", "ThroughputCapacity"): Row(_at_most_doubles, _ONLY_GROWS),
        ("LustreConfiguration", "DataReadCacheConfiguration"): Row(_any, ""),  # the cache holds only copies
        ("LustreConfiguration", "DailyAutomaticBackupStartTime"): Row(_any, ""),
        ("LustreConfiguration", "AutomaticBackupRetentionDays"): Row(
            _more_than_none, "older backups would be deleted"
        ),
    },
    ASSOCIATION: {
        ("S3", "AutoImportPolicy"): Row(
            _carries_as_much, "objects would not appear, or a deletion in the bucket delete files"
        ),
        ("S3", "AutoExportPolicy"): Row(
            _carries_as_much, "files would not reach the bucket, or a deleted file be deleted there"
        ),
    },
    _BUCKET: {
        ("LifecycleConfiguration", "Rules"): Row(
            _keeps_objects, "objects expire sooner or move to another storage class"
        ),
        ("BucketEncryption",): Row(_own_key, "the owner of another key could lock everybody out"),
        ("MetricsConfigurations",): Row(_any, ""),
        ("VersioningConfiguration", "Status"): Row(_on, "overwritten objects would be lost"),
        **{
            ("PublicAccessBlockConfiguration", name): Row(_on, "the bucket could be made public")
            for name in ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
        },
    },
    "AWS::Logs::LogGroup": {("RetentionInDays",): Row(_longer, "older logs would be deleted")},
    "AWS::DynamoDB::Table": {
        ("BillingMode",): Row(_becomes("PAY_PER_REQUEST"), "writes might be throttled"),
        ("DeletionProtectionEnabled",): Row(_on, "the table could be deleted by mistake"),
        ("PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"): Row(
            _on, "it could not be restored"
        ),
    },
    "AWS::DynamoDB::GlobalTable": {
        ("BillingMode",): Row(_becomes("PAY_PER_REQUEST"), "writes might be throttled")
    },
    "AWS::KMS::Key": {
        ("EnableKeyRotation",): Row(_on, "the key would no longer change"),
        ("RotationPeriodInDays",): _WORDS,
    },
    "AWS::ECR::Repository": {
        ("ImageScanningConfiguration", "ScanOnPush"): Row(_on, "images would no longer be scanned"),
        ("ImageTagMutability",): Row(_becomes("IMMUTABLE"), "an image could be replaced under its tag"),
    },
    "AWS::EFS::FileSystem": {("FileSystemTags",): Row(_keeps_our_tags, "costs are found by this tag")},
    "AWS::EC2::Volume": {("Size",): Row(_at_most_doubles, _ONLY_GROWS)},
    "AWS::EC2::CapacityReservation": {("TagSpecifications",): _WORDS},
}
"""For each type, the properties that may change, and when."""

_EVERYWHERE: Final[Mapping[PropertyPath, Row]] = {
    ("Description",): _WORDS,
    ("Tags",): Row(_keeps_our_tags, "costs, roles and commands find it by these tags"),
}

_NOTHING: Final = frozenset(
    {
        "AWS::CDK::Metadata",
        "AWS::CloudFormation::WaitConditionHandle",
        "AWS::CloudWatch::Dashboard",
        "AWS::Logs::QueryDefinition",
    }
)
"""Types that buy, run, drain, alarm, notify, pay and keep nothing."""

_PURPOSES: Final[tuple[tuple[str, StopKind, str], ...]] = (
    ("AWS::AutoScaling::", StopKind.CAPACITY, "starts and ends nodes"),
    (COMPUTE_ENVIRONMENT, StopKind.CAPACITY, "starts and ends nodes"),
    (LAUNCH_TEMPLATE, StopKind.CAPACITY, "says what nodes are bought and what runs on them"),
    ("AWS::EC2::PlacementGroup", StopKind.CAPACITY, "places nodes"),
    ("AWS::Batch::", StopKind.JOBS, "places or describes jobs"),
    ("AWS::Budgets::", StopKind.CONTROL, "watches costs"),
    ("AWS::CloudWatch::", StopKind.CONTROL, "warns people"),
    ("AWS::Events::", StopKind.CONTROL, "starts functions"),
    ("AWS::Lambda::", StopKind.CONTROL, "looks after the cluster"),
    ("AWS::EC2::", StopKind.NETWORK, "carries traffic"),
    ("AWS::SNS::", StopKind.CONTROL, "tells people"),
    ("AWS::IAM::", StopKind.PERMISSION, "grants permissions"),
)


def purpose(kind: str) -> tuple[StopKind, str]:
    """Return what a type is for: the kind of its stops, and a verb with its object."""
    if kind in STATEFUL:
        return StopKind.DATA, "keeps data or capacity"
    if kind in POLICY_TYPES:
        return StopKind.PERMISSION, "grants permissions"
    for start, stop, verb in _PURPOSES:
        if kind.startswith(start):
            return stop, verb
    return StopKind.UNKNOWN, "is of a type that no row knows"


_MACRO: Final = "a macro would add parts that are not known before the deployment"


def unsafe_changes(update: ResourceUpdate, stops: Collection[Stop]) -> Iterator[Stop]:
    """Stop each change that no row allows and that none of the stops of the other rules explains."""
    change, kind = update.change, update.change.resource_type
    if kind in _NOTHING or is_custom(kind):
        return
    if macros(update.after) != macros(update.before):
        yield change.stop(StopKind.UNKNOWN, _MACRO)
    stop, verb = purpose(kind)
    if change.action in GOES:
        if not stops and kind not in NETWORK_TYPES | POLICY_TYPES and not kind.startswith("AWS::IAM::"):
            yield change.stop(stop, f"it {verb}, and nothing takes over its work")
        return
    unsafe = [*_unsafe_attributes(update), *([] if kind in NETWORK_TYPES else _unsafe_properties(update))]
    explained = [*_explained(update, stops)]
    for path, told, harm in unsafe:
        if any(path[: len(other)] == other or other[: len(path)] == path for other in explained):
            continue
        if harm == _ONLY_GROWS:
            yield Stop.refused(f"{told}: {harm}")
        else:
            yield change.stop(
                stop, f"{told}: {harm}" if harm else f"{told} is not known to be safe for what {verb}"
            )


def _explained(update: ResourceUpdate, stops: Collection[Stop]) -> Iterator[PropertyPath]:
    """Iterate over the paths of which another stop says what they do: replace the resource, or its nodes."""
    if any((stop.allow or "").startswith("replace:") for stop in stops):
        yield from (part.path for part in update.change.properties if part.replaces is not False)
    if update.change.resource_type == COMPUTE_ENVIRONMENT and stops:
        yield from (
            part.path
            for part in update.change.properties
            if part.path[0] == "ComputeResources"
            and part.path[1:2] not in {(name,) for name in SCALING_PROPERTIES}
        )
    if update.change.resource_type == QUEUE and stops:
        yield from (("SchedulingPolicyArn",), ("ComputeEnvironmentOrder",))


_Unsafe = tuple[PropertyPath, str, str]


def _unsafe_attributes(update: ResourceUpdate) -> Iterator[_Unsafe]:
    for name in ("CreationPolicy", "UpdatePolicy"):
        old, new = update.before.get(name), update.after.get(name)
        if canonical(old) != canonical(new):
            yield (name,), f"{name}: {_told(old)} -> {_told(new)}", ""


def _unsafe_properties(update: ResourceUpdate) -> Iterator[_Unsafe]:
    kind = update.change.resource_type
    own = SAFE.get(kind, {})
    rows = {
        path: row for path, row in _EVERYWHERE.items() if all(each[: len(path)] != path for each in own)
    } | {**own}
    whole = Difference(path=(), before=update.old, after=update.new, update=update)
    for difference, harm in _differences(rows, whole):
        if not is_judged(kind, difference.path[0]):
            told = f"{'.'.join(difference.path)}: {_told(difference.before)} -> {_told(difference.after)}"
            yield difference.path, told, _harm_of_size(difference) if harm == _ONLY_GROWS else harm
    for part in update.change.properties:
        # What another resource moves is the business of that resource; a parameter or mapping has no rules of its own.
        moved = part.cause and (
            kind in STATEFUL or (part.cause not in update.new_resources and ":" not in part.cause)
        )
        if moved and not any(_matches(path, part.path) and rows[path].safe is _any for path in rows):
            yield part.path, f"{'.'.join(part.path)} follows {part.cause}", ""


def _harm_of_size(change: Difference) -> str:
    return "" if change.numbers is None else _GROWS_FAR if _more(change) else _ONLY_GROWS


def _differences(rows: Mapping[PropertyPath, Row], at: Difference) -> Iterator[tuple[Difference, str]]:
    """Iterate over the differences that no row allows, each with the harm that its row names; empty without a row."""
    before, after = at.before, at.after
    if canonical(before) == canonical(after):
        return
    if isinstance(before, str) and before in at.update.idle_blocks and isinstance(after, str):
        return  # nothing runs in the block that is left
    matching = [path for path in rows if _matches(path, at.path)]
    exact = [path for path in matching if len(path) == len(at.path)]
    if exact:
        row = rows[min(exact, key=lambda path: path.count("*"))]
        if not row.allows(at):
            yield at, row.harm
        return
    inner = _inner(before, after) if matching else None
    if inner is None:
        yield at, ""
        return
    for key, old, new in inner:
        yield from _differences(
            rows, Difference(path=(*at.path, key), before=old, after=new, update=at.update)
        )


def _matches(pattern: PropertyPath, path: PropertyPath) -> bool:
    """Return whether a path is the one of a pattern or above it."""
    return len(pattern) >= len(path) and all(
        part in {"*", other} for part, other in zip(pattern, path, strict=False)
    )


def _inner(before: Any, after: Any) -> list[tuple[str, Any, Any]] | None:
    """Return what differs inside two objects or lists of equal length; None if they differ as a whole."""
    sides = [{} if side is None else side for side in (before, after)]
    if any(is_expression(side) for side in sides):
        return None
    old, new = sides
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return [(key, old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [(str(index), *pair) for index, pair in enumerate(zip(old, new, strict=True))]
    return None


def _told(value: Any) -> str:
    if value is None:
        return "(none)"
    text = " ".join((value if isinstance(value, str) else json.dumps(canonical(value))).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def unsafe_additions(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop an addition that buys, reaches outside of the stack, or is of a type that no row knows."""
    change, kind = update.change, update.change.resource_type
    if kind in _NOTHING:
        return
    if macros(update.after) != macros(update.before):
        yield change.stop(StopKind.UNKNOWN, _MACRO)
    stop, verb = purpose(kind)
    at = Difference(path=("Resource",), before=None, after=update.new, update=update)
    if kind in _PLAIN_ADDITIONS or (kind in _ADDED and _ADDED[kind].allows(at)):
        return
    if kind in _ADDED:
        yield change.stop(stop, f"it is new and {verb}: {_ADDED[kind].harm}")
    else:
        yield change.stop(
            StopKind.UNKNOWN, f"it is new, and what {kind} costs or does is not known to the plan"
        )


_PLAIN_ADDITIONS: Final = frozenset(
    f"AWS::{name}"
    for name in (
        *(
            "Batch::JobQueue",
            "Batch::SchedulingPolicy",
            "DynamoDB::Table",
            "EC2::LaunchTemplate",
        ),
        *(
            "EC2::NetworkAcl",
            "EC2::NetworkAclEntry",
            "EC2::PlacementGroup",
            "EC2::RouteTable",
            "EC2::SecurityGroup",
        ),
        *("EC2::SecurityGroupEgress", "EC2::Subnet", "EC2::SubnetNetworkAclAssociation"),
        *("EC2::SubnetRouteTableAssociation", "EC2::VPC", "EC2::VPCEndpoint", "ECR::Repository"),
        *(
            "IAM::InstanceProfile",
            "IAM::ManagedPolicy",
            "IAM::Policy",
            "IAM::Role",
            "IAM::RolePolicy",
            "KMS::Key",
        ),
        *("Lambda::EventInvokeConfig", "Logs::LogGroup", "S3::Bucket", "S3::BucketPolicy", "SNS::Topic"),
        *("SNS::TopicPolicy", "SQS::QueuePolicy"),
    )
)
"""Types that start nothing by themselves; the permissions among them are judged as such."""


def _new_alarm(at: Difference) -> bool:
    actions = [
        item for name in ("Alarm", "OK", "InsufficientData") for item in at.after.get(f"{name}Actions") or []
    ]
    return all(_is_topic(item, at.update) for item in actions)


def _new_function(at: Difference) -> bool:
    code = at.after.get("Code") or {}
    ours = "ZipFile" in code or ASSET_HASH.search(str(code.get("S3Key")))
    return (
        bool(ours)
        and not at.after.get("Layers")
        and _is_own(at.after.get("Role"), at.update, "AWS::IAM::Role")
    )


def _new_job(at: Difference) -> bool:
    properties = at.after
    ranges = (properties.get("NodeProperties") or {}).get("NodeRangeProperties") or []
    containers = [
        properties.get("ContainerProperties") or {},
        *(each.get("Container") or {} for each in ranges),
    ]
    roles = [each[name] for each in containers for name in ("JobRoleArn", "ExecutionRoleArn") if name in each]
    return all(_is_own(role, at.update, "AWS::IAM::Role") for role in roles) and not any(
        each.get("Privileged") for each in containers
    )


def _new_permission(at: Difference) -> bool:
    service = str(at.after.get("Principal", "")).endswith(".amazonaws.com")
    return (
        service
        and at.after.get("Action") == "lambda:InvokeFunction"
        and is_expression(at.after.get("SourceArn"))
    )


def _new_rule(at: Difference) -> bool:
    return all(_starts_own(target, at.update) for target in canonical(at.after.get("Targets") or []))


def _new_subscription(at: Difference) -> bool:
    protocol = str(at.after.get("Protocol"))
    return protocol.startswith("email") or (
        protocol == "lambda" and _is_own(at.after.get("Endpoint"), at.update, FUNCTION)
    )


def _new_starter(at: Difference) -> bool:
    return is_bounded(at.update)


def _new_association(at: Difference) -> bool:
    return "DELETED" not in json.dumps(at.after.get("S3"))


def _new_budget(at: Difference) -> bool:
    return not {
        one.name for one in references(at.after.get("NotificationsWithSubscribers"))
    } & _acting_topics(at.update)


def from_anywhere(rules: Any) -> bool:
    """Return whether rules of a security group let in every address."""
    return '"0.0.0.0/0"' in json.dumps(rules) or '"::/0"' in json.dumps(rules)


_ADDED: Final[Mapping[str, Row]] = {
    ALARM: Row(_new_alarm, "its actions are no topics of this cluster"),
    "AWS::CloudWatch::CompositeAlarm": Row(_new_alarm, "its actions are no topics of this cluster"),
    "AWS::Budgets::Budget": Row(_new_budget, "it closes queues when it is spent"),
    FUNCTION: Row(_new_function, "its code, layers or role are not of this stack"),
    "AWS::Lambda::Permission": Row(_new_permission, "it lets in more than one resource of a service"),
    _RULE: Row(_new_rule, "it starts something else than functions of this stack"),
    _SUBSCRIPTION: Row(_new_subscription, "its endpoint is neither a mailbox nor a function of this stack"),
    _JOB: Row(_new_job, "it is privileged, or its roles are not of this stack"),
    COMPUTE_ENVIRONMENT: Row(_new_starter, "no reservation bounds what it buys at list price"),
    AUTO_SCALING_GROUP: Row(_new_starter, "no reservation bounds what it buys at list price"),
    ASSOCIATION: Row(_new_association, "it would carry deletions over"),
    FILE_SYSTEM: Row(_never, "it is paid by its size from the start"),
    **{
        f"AWS::EC2::{name}": Row(_never, "it opens a way to the Internet, or is paid by the hour")
        for name in ("InternetGateway", "NatGateway", "Route", "VPCGatewayAttachment")
    },
    "AWS::EC2::SecurityGroupIngress": Row(lambda at: not from_anywhere(at.after), "it lets in every address"),
}
"""For each other type, what a new resource must be."""
