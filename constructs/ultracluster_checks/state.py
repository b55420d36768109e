"""Resources with data: retained, encrypted, private and recoverable."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import ENCRYPTION, KEPT_IN_S3
from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE
from ultracluster_checks.model.permissions import covers, may, role_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Reference, Text
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.findings import quote

BUCKET: Final = "AWS::S3::Bucket"
_ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
_TABLE: Final = "AWS::DynamoDB::Table"
_KEY: Final = "AWS::KMS::Key"

# A snapshot by CloudFormation counts as retention where the type supports it.
_SNAPSHOTS: Final = {
    "AWS::RDS::DBInstance",
    "AWS::RDS::DBCluster",
    "AWS::EC2::Volume",
    "AWS::Redshift::Cluster",
}
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html (2026-11)
_SNAPSHOTS_BY_DEFAULT: Final = {"AWS::RDS::DBCluster", "AWS::RDS::DBInstance"}
_STATEFUL: Final = {
    BUCKET: "objects are lost",
    _TABLE: "items are lost",
    _KEY: "nothing that the key encrypted can be read",
    "AWS::DynamoDB::GlobalTable": "items are lost",
    "AWS::EC2::Volume": "files are lost",
    "AWS::EFS::FileSystem": "files are lost",
    "AWS::FSx::FileSystem": "files are lost",
    "AWS::Logs::LogGroup": "logs are lost",
    "AWS::RDS::DBCluster": "rows are lost",
    "AWS::RDS::DBInstance": "rows are lost",
}
_ONLY_IF_TOLD: Final = {
    "AWS::ECR::Repository": "images are lost",
    "AWS::Backup::BackupVault": "backups are lost",
}
"""CloudFormation does not delete these while they hold something, unless the template empties them or says Delete."""

_ARCHIVES: Final = {"GLACIER", "DEEP_ARCHIVE"}
_LONG: Final = 90  # days after which a checkpoint may be in an archive
_CHECKPOINTS: Final = re.compile("(?i)checkpoint|save")
_RESULTS: Final = re.compile("(?i)checkpoint|output|result")
_OF_THE_CONTAINER: Final = re.compile(r"(?:file://)?/(?:tmp|var/tmp|dev/shm|root|home)(?:/|$)")
_LOST: Final = {"DeletionPolicy": "the stack is deleted", "UpdateReplacePolicy": "an update replaces it"}
_BLOCKS: Final = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")


@rule("UC5201", *_STATEFUL)
def data_is_retained(resource: Resource) -> Iterator[Wrong]:
    """Find resources with data that are deleted with their stack or on replacement."""
    kept = {"Retain", "RetainExceptOnCreate"} | ({"Snapshot"} if resource.type in _SNAPSHOTS else set())
    by_default = resource.type in _SNAPSHOTS_BY_DEFAULT
    if resource.type == "AWS::RDS::DBInstance" and not resource["DBClusterIdentifier"].missing:
        return  # the rows are in the volume of the cluster
    for at, when in ((resource.attribute(name), when) for name, when in _LOST.items()):
        if (at.missing and not by_default) or (not at.missing and at.text not in {*kept, None}):
            yield at, f"{_STATEFUL[resource.type]} when {when}", "Retain"


@rule("UC5201", *_ONLY_IF_TOLD)
def images_and_backups_are_retained(resource: Resource) -> Iterator[Wrong]:
    """Find repositories of images and vaults of backups that a template deletes."""
    for at, when in ((resource.attribute(name), when) for name, when in _LOST.items()):
        if at.text == "Delete":
            yield at, f"{_ONLY_IF_TOLD[resource.type]} when {when}", "Retain"


@rule("UC5206", BUCKET)
def buckets_block_public_access(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets that a policy could make public."""
    block = bucket["PublicAccessBlockConfiguration"]
    for name in _BLOCKS if isinstance(block.value, dict) else ():
        if block[name].off:
            yield block[name], f"{name} is not true", "true"


@rule("UC5205", BUCKET)
def buckets_ask_for_tls(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets that accept requests without TLS."""
    policies = list(bucket.template.templates.of_type("AWS::S3::BucketPolicy"))
    if any(policy["Bucket"].unknown or isinstance(policy["Bucket"].value, Text) for policy in policies):
        return  # an unknown policy may apply to any of them
    own = [each for each in policies if each["Bucket"].target is bucket]
    own += [each for each in policies if each["Bucket"].text == (bucket["BucketName"].text or "")]
    if not any(_denies_plain(policy["PolicyDocument"]) for policy in own):
        denial = 'a bucket policy that denies s3:* under Bool {"aws:SecureTransport": "false"}'
        yield bucket.properties, "no policy refuses requests without TLS", denial


def _denies_plain(document: Property) -> bool:
    for statement in document["Statement"].one_or_more:
        # A reference alone is the bucket without its objects.
        places = [each for each in statement["Resource"].one_or_more if each.target is None]
        objects = any(each.unknown or each.pattern.endswith(("*", "}")) for each in places)
        actions = statement["Action"].one_or_more
        reading = any(each.text is None or covers(each, "s3:GetObject") for each in actions)
        if statement["Effect"].text == "Deny" and not (objects and reading):
            continue
        condition = statement["Condition"]
        values = [each for at in condition.members for each in at["aws:SecureTransport"].one_or_more]
        unknown = any(at.unknown for at in (statement, condition, *condition.members, *values))
        if statement["Effect"].text != "Allow" and (unknown or any(at.flag is False for at in values)):
            return True
    return document.unknown


@rule(ENCRYPTION, LAUNCH_TEMPLATE, "AWS::EC2::Instance", "AWS::EC2::Volume", "AWS::EFS::FileSystem")
def disks_are_encrypted(resource: Resource) -> Iterator[Wrong]:
    """Find unencrypted volumes and file systems."""
    data = resource["LaunchTemplateData"] if resource.type == LAUNCH_TEMPLATE else resource.properties
    disks = [each["Ebs"] for each in data["BlockDeviceMappings"].items]
    places = [disk["Encrypted"] for disk in disks if not disk.missing and disk["SnapshotId"].missing]
    if resource.type in {"AWS::EC2::Volume", "AWS::EFS::FileSystem"}:
        places = [resource["Encrypted"]]
    for at in places:
        if at.off:
            missing = "nothing is said, and a new volume is not encrypted by itself"
            yield at, missing if at.missing else "got false", "Encrypted: true"


@rule("UC5208", _ASSOCIATION)
def deletions_stay_on_lustre(association: Resource) -> Iterator[Wrong]:
    """Find associations that export deletions: an ``rm`` on Lustre deletes the object in S3."""
    for event in association["S3"]["AutoExportPolicy"]["Events"].items:
        if event.text == "DELETED":
            got = "got DELETED, so that rm on the file system deletes checkpoints in S3"
            yield event, got, "NEW and CHANGED"


def _written_buckets(templates: Templates) -> list[Resource]:
    """Return the buckets that file systems export to."""
    found: dict[Resource, None] = {}
    for association in templates.of_type(_ASSOCIATION):
        path = association["DataRepositoryPath"].value
        exported = not association["S3"]["AutoExportPolicy"].missing and isinstance(path, Text)
        for part in path.parts if exported else ():
            target = templates.resource(part) if isinstance(part, Reference) and not part.attribute else None
            if target is not None and target.type == BUCKET:
                found[target] = None
    return list(found)


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


@rule(KEPT_IN_S3, BUCKET)
def versions_are_not_suspended(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets whose versions are switched off, so that what is overwritten is lost."""
    status = bucket["VersioningConfiguration"]["Status"]
    if status.text == "Suspended" and bucket not in _written_buckets(bucket.template.templates):
        yield status, "got Suspended, so that overwritten objects are lost", "Enabled"


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


@rule("UC5213", _KEY)
def keys_change(key: Resource) -> Iterator[Wrong]:
    """Find symmetric keys without rotation."""
    at, kind = key["EnableKeyRotation"], key["KeySpec"]
    if at.off and (kind.missing or kind.text == "SYMMETRIC_DEFAULT"):
        yield at, "the key material never changes", "EnableKeyRotation: true"


@rule("UC5215", "AWS::Backup::BackupPlan")
def backups_are_kept(plan: Resource) -> Iterator[Wrong]:
    """Find backups that are gone before the next one is proven, or leave cold storage too early."""
    for life in (each["Lifecycle"] for each in plan["BackupPlan"]["BackupPlanRule"].items):
        kept, cold = life["DeleteAfterDays"], life["MoveToColdStorageAfterDays"].number
        if kept.number is not None and kept.number <= 1:
            yield kept, f"got {kept.number}: yesterday's backup is gone when that of today fails", "7 or more"
        if kept.number is not None and cold is not None and kept.number < cold + 90:
            got = f"got {kept.number}; AWS Backup keeps cold backups for 90 days more"
            yield kept, got, f"{cold + 90} or more"


@rule("UC5215", "AWS::Backup::BackupSelection")
def backups_are_of_something(selection: Resource) -> Iterator[Wrong]:
    """Find selections of backups that select nothing."""
    at = selection["BackupSelection"]
    if not at.unknown and all(at[name].empty for name in ("Resources", "ListOfTags", "Conditions")):
        yield at, "nothing is selected, so that nothing is backed up", "Resources or ListOfTags"


@rule("UC5215", BUCKET)
def replication_copies(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets whose replication is disabled, refused without versions, or not allowed to its role."""
    at = bucket["ReplicationConfiguration"]
    rules, role = at["Rules"].items, role_of(at["Role"])
    if at.missing or at.unknown:
        return
    if rules and all(each["Status"].text == "Disabled" for each in rules):
        yield rules[0]["Status"], "got Disabled, so that nothing is copied", "Enabled"
    status = bucket["VersioningConfiguration"]["Status"]
    if status.missing or status.text == "Suspended":
        yield status, "S3 replicates buckets with versions only", "Enabled"
    encrypted = any(not each["SourceSelectionCriteria"]["SseKmsEncryptedObjects"].missing for each in rules)
    needed = ("s3:ReplicateObject", *(("kms:Decrypt",) if encrypted else ()))
    if role is not None and (lacking := [action for action in needed if not may(role, action)]):
        yield at["Role"], f"{role.logical_id} does not allow {', '.join(lacking)}", ", ".join(needed)
