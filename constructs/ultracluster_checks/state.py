"""Resources with data: retained, encrypted, private and recoverable."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.file_systems import ASSOCIATION
from ultracluster_checks.machines import LAUNCH_TEMPLATE, launch_data
from ultracluster_checks.problem import Problem
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Reference, Text, Unknown
from ultracluster_rules.findings import quote

BUCKET: Final = "AWS::S3::Bucket"
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
_BLOCKS: Final = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
_PUBLIC_LISTS: Final = ("PublicRead", "PublicReadWrite", "AuthenticatedRead")


def data_is_retained(templates: Templates) -> Iterator[Problem]:
    """Find resources with data that are deleted with their stack or on replacement."""
    for resource in templates.of_type(*_STATEFUL):
        kept = {"Retain", "RetainExceptOnCreate"} | ({"Snapshot"} if resource.type in _SNAPSHOTS else set())
        by_default = resource.type in _SNAPSHOTS_BY_DEFAULT and resource["DBClusterIdentifier"].missing
        for name, when in (
            ("DeletionPolicy", "the stack is deleted"),
            ("UpdateReplacePolicy", "an update replaces it"),
        ):
            at = resource.attribute(name)
            if at.missing and by_default:
                continue
            if at.missing or at.text not in {*kept, None}:
                lost = _STATEFUL[resource.type]
                yield Problem.of(at, "UC5201", f"{lost} when {when}", "Retain")


def buckets_are_private(templates: Templates) -> Iterator[Problem]:
    """Find buckets that are public, or that a policy could make public."""
    for bucket in templates.of_type(BUCKET):
        block = bucket["PublicAccessBlockConfiguration"]
        for name in _BLOCKS if isinstance(block.value, dict) else ():
            if block[name].missing or block[name].flag is False:
                yield Problem.of(block[name], "UC5206", f"{name} is not true", "true")
        lists = bucket["AccessControl"]
        if lists.text in _PUBLIC_LISTS:
            yield Problem.of(
                lists,
                "UC5207",
                f"got {quote(lists.text)}",
                "a bucket policy instead of an access control list",
            )


def buckets_ask_for_tls(templates: Templates) -> Iterator[Problem]:
    """Find buckets that accept requests without TLS."""
    policies = list(templates.of_type("AWS::S3::BucketPolicy"))
    if any(isinstance(policy["Bucket"].value, Unknown | Text) for policy in policies):
        return  # an unknown policy may apply to any of them
    for bucket in templates.of_type(BUCKET):
        named = bucket["BucketName"].text
        own = [
            policy
            for policy in policies
            if policy["Bucket"].target is bucket or (named is not None and policy["Bucket"].text == named)
        ]
        if not any(_denies_plain(policy["PolicyDocument"]) for policy in own):
            yield Problem.of(
                bucket.properties,
                "UC5205",
                "no policy refuses requests without TLS",
                'a bucket policy that denies s3:* under Bool {"aws:SecureTransport": "false"}',
            )


def _denies_plain(document: Property) -> bool:
    if isinstance(document.value, Unknown):
        return True
    for statement in document["Statement"].one_or_more:
        if isinstance(statement.value, Unknown):
            return True
        if statement["Effect"].text != "Allow":
            condition = statement["Condition"]
            values = [each for at in condition.members for each in at["aws:SecureTransport"].one_or_more]
            unknown = [at for at in (condition, *condition.members, *values) if isinstance(at.value, Unknown)]
            if unknown or any(at.flag is False for at in values):
                return True
    return False


def disks_are_encrypted(templates: Templates) -> Iterator[Problem]:
    """Find unencrypted volumes and file systems."""
    places = [
        item["Ebs"]["Encrypted"]
        for template in templates.of_type(LAUNCH_TEMPLATE)
        for item in launch_data(template)["BlockDeviceMappings"].items
        if not item["Ebs"].missing and item["Ebs"]["SnapshotId"].missing
    ]
    places += [
        item["Ebs"]["Encrypted"]
        for instance in templates.of_type("AWS::EC2::Instance")
        for item in instance["BlockDeviceMappings"].items
        if not item["Ebs"].missing and item["Ebs"]["SnapshotId"].missing
    ]
    places += [
        resource["Encrypted"] for resource in templates.of_type("AWS::EC2::Volume", "AWS::EFS::FileSystem")
    ]
    for at in places:
        if at.missing or at.flag is False:
            got = (
                "nothing is said, and a new volume is not encrypted by itself" if at.missing else "got false"
            )
            yield Problem.of(at, "UC5204", got, "Encrypted: true")


def deletions_stay_on_lustre(templates: Templates) -> Iterator[Problem]:
    """Find associations that export deletions: an ``rm`` on Lustre deletes the object in S3."""
    for association in templates.of_type(ASSOCIATION):
        for event in association["S3"]["AutoExportPolicy"]["Events"].items:
            if event.text == "DELETED":
                yield Problem.of(
                    event,
                    "UC5208",
                    "got DELETED, so that rm on the file system deletes checkpoints in S3",
                    "NEW and CHANGED",
                )


def checkpoints_keep_versions(templates: Templates) -> Iterator[Problem]:
    """Find buckets linked to a file system that lack versioning or expire current objects."""
    for bucket in _written_buckets(templates):
        status = bucket["VersioningConfiguration"]["Status"]
        if status.missing or status.text == "Suspended":
            yield Problem.of(
                status,
                "UC5209",
                "objects that the file system overwrites are lost",
                "Enabled, with expiration of noncurrent versions",
            )
        for rule in bucket["LifecycleConfiguration"]["Rules"].items:
            for name in ("ExpirationInDays", "ExpirationDate"):
                if rule[name].known and rule["Status"].text != "Disabled":
                    yield Problem.of(
                        rule[name],
                        "UC5210",
                        "objects expire whose only copy may be in S3, after the file system released them",
                        "NoncurrentVersionExpiration",
                    )


def _written_buckets(templates: Templates) -> list[Resource]:
    found: dict[Resource, None] = {}
    for association in templates.of_type(ASSOCIATION):
        path = association["DataRepositoryPath"].value
        if association["S3"]["AutoExportPolicy"].missing or not isinstance(path, Text):
            continue
        for part in path.parts:
            target = templates.resource(part) if isinstance(part, Reference) and not part.attribute else None
            if target is not None and target.type == BUCKET:
                found[target] = None
    return list(found)


def tables_have_a_way_back(templates: Templates) -> Iterator[Problem]:
    """Find tables without point-in-time recovery."""
    for table in templates.of_type(_TABLE):
        at = table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        if at.missing or at.flag is False:
            yield Problem.of(
                at, "UC5212", "a wrong write cannot be undone", "PointInTimeRecoveryEnabled: true"
            )


def keys_change(templates: Templates) -> Iterator[Problem]:
    """Find symmetric keys without rotation."""
    for key in templates.of_type(_KEY):
        at, kind = key["EnableKeyRotation"], key["KeySpec"]
        if (kind.missing or kind.text == "SYMMETRIC_DEFAULT") and (at.missing or at.flag is False):
            yield Problem.of(at, "UC5213", "the key material never changes", "EnableKeyRotation: true")
