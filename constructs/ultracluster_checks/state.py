"""File systems, checkpoints and volumes of nodes: retained, encrypted and recoverable."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import ENCRYPTION, KEPT_IN_S3, RETAINED
from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.lustre import check_export_event
from ultracluster_spec.record import RuleRecord

BUCKET: Final = "AWS::S3::Bucket"
_ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
_ARCHIVES: Final = {"GLACIER", "DEEP_ARCHIVE"}
_LONG: Final = 90  # days after which a checkpoint may be in an archive
_CHECKPOINTS: Final = re.compile("(?i)checkpoint|save")
_RESULTS: Final = re.compile("(?i)checkpoint|output|result")
_OF_THE_CONTAINER: Final = re.compile(r"(?:file://)?/(?:tmp|var/tmp|dev/shm|root|home)(?:/|$)")
_LOST: Final = {"DeletionPolicy": "the stack is deleted", "UpdateReplacePolicy": "an update replaces it"}


@rule(ENCRYPTION, LAUNCH_TEMPLATE)
def disks_are_encrypted(template: Resource) -> Iterator[Wrong]:
    """Find nodes with unencrypted volumes."""
    disks = [each["Ebs"] for each in template["LaunchTemplateData"]["BlockDeviceMappings"].items]
    for at in (disk["Encrypted"] for disk in disks if not disk.missing and disk["SnapshotId"].missing):
        if at.off:
            missing = "not set, and new volumes are not encrypted by default"
            yield at, missing if at.missing else "got false", "Encrypted: true"


@rule("", _ASSOCIATION)
def deletions_stay_on_lustre(association: Resource) -> Iterator[Wrong]:
    """Find associations that export deletions: an ``rm`` on Lustre deletes the object in S3."""
    for event in association["S3"]["AutoExportPolicy"]["Events"].items:
        yield from placed(event, check_export_event(event.text or ""))


def _written_buckets(templates: Templates) -> list[Resource]:
    """Return the buckets that file systems export to."""
    links = [each for each in templates.of_type(_ASSOCIATION) if not each["S3"]["AutoExportPolicy"].missing]
    named = [target for each in links for target in each["DataRepositoryPath"].targets]
    return list(dict.fromkeys(each for each in named if each.type == BUCKET))


@rule(KEPT_IN_S3, _ASSOCIATION)
def written_files_are_exported(association: Resource) -> Iterator[Wrong]:
    """Find links of checkpoints or results that do not export new files, or not those that are written again."""
    # FSx for Lustre user guide, automatically export updates to your S3 bucket (2026-11): by default nothing is exported.
    policy, places = association["S3"]["AutoExportPolicy"], ("FileSystemPath", "DataRepositoryPath")
    events, paths = policy["Events"], " ".join(association[name].pattern for name in places)
    lacking = [each for each in ("NEW", "CHANGED") if each not in events.texts]
    unknown = association["S3"].unknown or policy.unknown or events.unknown
    if lacking and not unknown and _RESULTS.search(f"{association.logical_id} {paths}"):
        got = f"{' and '.join(lacking)} files are not exported, and stay on the file system only"
        yield events, got, "NEW and CHANGED"


@rule(KEPT_IN_S3, _written_buckets)
def checkpoints_keep_versions(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets linked to a file system that lack versioning."""
    status = bucket["VersioningConfiguration"]["Status"]
    if status.missing or status.text == "Suspended":
        got = "objects that the file system overwrites are lost"
        yield status, got, "Enabled, with expiration of noncurrent versions"


def _needed_buckets(templates: Templates) -> list[Resource]:
    """Return the buckets that file systems export to, and those that jobs save checkpoints to."""
    named = [
        target
        for container in job_containers(templates)
        for name, value in container.environment.items()
        for target in (value.targets if _CHECKPOINTS.search(f"{name} {value.pattern}") else ())
        if target.type == BUCKET
    ]
    return list(dict.fromkeys([*_written_buckets(templates), *named]))


def _kept_buckets(templates: Templates) -> list[Resource]:
    """Return the buckets that hold checkpoints, also by their logical IDs."""
    called = [each for each in templates.of_type(BUCKET) if _CHECKPOINTS.search(each.logical_id)]
    return list(dict.fromkeys([*_needed_buckets(templates), *called]))


@rule(RETAINED, "AWS::FSx::FileSystem", BUCKET)
def data_is_retained(resource: Resource) -> Iterator[Wrong]:
    """Find file systems and buckets that are deleted with their stack or on replacement."""
    lost = "objects are lost" if resource.type == BUCKET else "files are lost"
    for at, when in ((resource.attribute(name), when) for name, when in _LOST.items()):
        if at.missing or at.text not in {"Retain", "RetainExceptOnCreate", None}:
            yield at, f"{lost} when {when}", "Retain"


def _is_narrow(rule_of: Property) -> bool:
    """Return whether a rule of a bucket is for some of its objects."""
    prefixes = (rule_of["Prefix"], rule_of["Filter"], rule_of["TagFilters"])
    return any(not each.missing and each.text != "" for each in prefixes)


@rule("UC5210", _kept_buckets)
def checkpoints_do_not_expire(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets with checkpoints that expire or archive current objects."""
    rules = bucket["LifecycleConfiguration"]["Rules"].items
    active = [each for each in rules if each["Status"].text != "Disabled"]
    needed = bucket in _needed_buckets(bucket.template.templates)
    whole = [each for each in active if needed or not _is_narrow(each)]
    for at in (each[name] for each in whole for name in ("ExpirationInDays", "ExpirationDate")):
        if at.known:
            got = "objects expire whose only copy may be in S3, after the file system released them"
            yield at, got, "NoncurrentVersionExpiration"
    for move in (move for each in active for move in (*each["Transitions"].items, each["Transition"])):
        days = move["TransitionInDays"]
        if move["StorageClass"].text in _ARCHIVES and days.number is not None and days.number < _LONG:
            yield days, "a checkpoint in an archive is readable hours after a restore", f"{_LONG} or more"


@rule("UC5210", job_containers)
def checkpoints_leave_the_container(container: JobContainer) -> Iterator[Wrong]:
    """Find jobs that save checkpoints in the file system of their container, which ends with it."""
    mounted = tuple(each["ContainerPath"].text or "/" for each in container.at["MountPoints"].items)
    for name, value in container.environment.items():
        path = (value.text or "").removeprefix("file://")
        kept = path.startswith(mounted) or not _OF_THE_CONTAINER.match(path)
        if re.search("(?i)checkpoint", name) and not kept:
            got = f"{name}: got {quote(value.text)}, which is lost when the container ends"
            yield value, got, "s3:// or a mounted file system"


RECORDS: Final = (
    RuleRecord(
        "UC5210",
        "No object expires in a bucket that a file system writes to.",
        severity=Severity.WARNING,
        remedy="Let old versions expire instead of objects.",
        source="FSx for Lustre user guide, releasing data: a released file is in S3 only.",
    ),
)
