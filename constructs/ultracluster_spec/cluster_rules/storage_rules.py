"""Rules about the file system, buckets and compile cache of a cluster."""

from collections.abc import Iterator
from typing import Final

from ultracluster_spec.buckets import CACHE_FOLDER, check_destinations, check_replication_key
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.file_system import CLUSTER_RULES, FILE_SYSTEM_RULES, broken_settings
from ultracluster_spec.findings import Severity
from ultracluster_spec.lustre import OWN_LINK_RULES, Association, Links
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, broken, duplicates

_OF_THE_BUCKET: Final = (
    "expire_after_days",
    "expire_compilers",
    "request_metrics",
    "versioned",
    "replicate_to",
)


def file_system_is_possible(cluster: Cluster) -> Iterator[At]:
    """Refuse what FSx does not offer, and a mixture of a new and an existing file system."""
    system = cluster.file_system
    found = [*broken(FILE_SYSTEM_RULES, system)]
    if getattr(system, "file_system_id", "") is None:  # a new one, and not one whose ID is unreadable
        found += broken_settings(system)
    for place, finding in found:
        yield At.of(("file_system", *place), finding)
    for place, finding in broken(CLUSTER_RULES, cluster):
        yield At.of(place, finding)


def associations_can_be_made(cluster: Cluster) -> Iterator[At]:
    """Check links to S3 against the limits of FSx: paths and prefixes must not overlap."""
    system = cluster.file_system
    if not system.is_new:
        return
    places: list[Place] = [("file_system", "associations", i) for i in range(len(system.associations))]
    joined = [*system.associations]
    for index, dataset in enumerate(cluster.datasets):
        if dataset.file_system_path is not None:
            places.append(("datasets", index))
            joined.append(_joined(dataset.file_system_path, dataset.bucket_name or f"new-{index}"))
    if system.link_checkpoints:
        places.append(("file_system", "link_checkpoints"))
        joined.append(_joined("/checkpoints", cluster.checkpoints.bucket_name or "new"))
    links = Links(settings=system.settings, associations=joined)
    for place, finding in broken(OWN_LINK_RULES if joined else (), links):
        yield At.of(_association_loc(place, places), finding)


def buckets_have_one_use(cluster: Cluster) -> Iterator[At]:
    """Warn about a dataset in the checkpoint bucket, to which jobs write."""
    name = cluster.checkpoints.bucket_name
    for index, dataset in enumerate(cluster.datasets):
        if name is not None and dataset.bucket_name == name and dataset.file_system_path is None:
            problem = f"{name} is also the checkpoint bucket, to which jobs write"
            remedy = "Use separate buckets for datasets and checkpoints"
            yield At(("datasets", index, "bucket_name"), problem, remedy=remedy, code="UC2251")


def _joined(file_system_path: str, bucket_name: str) -> Association:
    return Association(file_system_path=file_system_path, data_repository_path=f"s3://{bucket_name}")


def _association_loc(place: Place, places: list[Place]) -> Place:
    """Return the location of an association: an explicit one, a dataset, or the checkpoints."""
    match place:
        case ("associations", int(index), str(name), *within):
            place = places[index]
            if place[-1] == "link_checkpoints":
                return place
            if place[0] == "datasets":
                return (*place, "bucket_name" if name == "data_repository_path" else name)
            return (*place, name, *within)
        case ("associations",):
            return places[0][:2] if places[0][0] == "file_system" else places[0]
    return ("file_system", *place)


def keys_are_near(cluster: Cluster) -> Iterator[At]:
    """Refuse KMS keys of another Region."""
    places: list[tuple[Place, str | None]] = [
        (("kms_key_arn",), cluster.kms_key_arn),
        (("file_system", "kms_key_arn"), cluster.file_system.kms_key_arn),
        *(((*loc, "kms_key_arn"), bucket.kms_key_arn) for loc, bucket in cluster.buckets()),
    ]
    for loc, arn in places:
        if arn is not None and arn.split(":")[3] != cluster.region:
            problem = f"the key is in {arn.split(':')[3]}, the cluster in {cluster.region}"
            yield At(loc, problem, remedy="Use a key in the Region of the cluster", code="UC5104")


def buckets_are_new_or_existing(cluster: Cluster) -> Iterator[At]:
    """Refuse settings of new buckets on existing ones, and duplicate datasets."""
    for loc, bucket in cluster.buckets():
        if bucket.bucket_name is not None and bucket.noncurrent_days is not None:
            problem = "noncurrent_days is for a new bucket only"
            remedy = "Remove it, or remove bucket_name"
            yield At((*loc, "noncurrent_days"), problem, remedy=remedy, code="UC5112")
    for index, name in duplicates(dataset.name for dataset in cluster.datasets):
        remedy = "Use a unique name for each dataset"
        yield At(("datasets", index, "name"), f"duplicate dataset {name}", remedy=remedy, code="UC5113")


def cache_is_in_one_place(cluster: Cluster) -> Iterator[At]:
    """Refuse a cache on a file system that is not there, and bucket settings for one on the file system."""
    cache = cluster.compile_cache
    if cache.on_file_system and not cluster.file_system.mount_path:
        problem, remedy = (
            "the cluster has no file system",
            "Remove it: TorchNeuron and vLLM need a file system",
        )
        yield At(("compile_cache", "on_file_system"), problem, remedy=remedy, code=CACHE_FOLDER)
    for name in _OF_THE_BUCKET:
        if cache.on_file_system and getattr(cache, name):
            problem = f"{name} applies to a cache on S3, but this one is on the file system"
            yield At(("compile_cache", name), problem, remedy="Remove one of them", code="UC6018")


def copies_go_to_each_bucket_once(cluster: Cluster) -> Iterator[At]:
    """Refuse a duplicate destination, as S3 does."""
    buckets = cluster.compile_cache.replicate_to
    for index, finding in check_destinations(buckets):
        yield At.of(("compile_cache", "replicate_to", index), finding)
    for index, name in enumerate(buckets):
        if name in [bucket.bucket_name for _, bucket in cluster.buckets()]:
            problem = f"{name} holds checkpoints or data of this cluster"
            remedy = "Use the bucket of a compile cache in another Region"
            yield At(("compile_cache", "replicate_to", index), problem, remedy=remedy, code="UC5142")


def copies_have_no_key(cluster: Cluster) -> Iterator[At]:
    """Refuse replication of entries that a customer managed key encrypts."""
    cache = cluster.compile_cache
    has_key = cluster.kms_key_arn is not None and not cache.on_file_system
    yield from At.of_all(
        ("compile_cache", "replicate_to"),
        check_replication_key(has_key=has_key, replicated=bool(cache.replicate_to)),
    )


RULES: Final = (
    file_system_is_possible,
    associations_can_be_made,
    buckets_have_one_use,
    keys_are_near,
    buckets_are_new_or_existing,
    cache_is_in_one_place,
    copies_go_to_each_bucket_once,
    copies_have_no_key,
)


RECORDS: Final = (
    RuleRecord(
        "UC2251",
        "A bucket has one use in a cluster.",
        severity=Severity.WARNING,
        remedy="Use separate buckets for data and checkpoints: jobs may write to the checkpoint bucket.",
        source="Our decision: permissions and lifecycle rules are given by the bucket.",
    ),
    RuleRecord(
        "UC5104",
        "A KMS key is in the Region of its cluster.",
        remedy="Use a key in the Region of the cluster, or the replica there of a multi-Region key.",
        source="AWS KMS developer guide: a key is used in its own Region.",
        example='file_system: {kms_key_arn: "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"}',
    ),
    RuleRecord(
        "UC5112",
        "Nothing of an existing bucket is set.",
        remedy="Leave the setting out and make it at the bucket itself, or leave bucket_name out for a new bucket.",
        source="Our decision: nothing of an existing bucket is changed.",
        example="checkpoints: {bucket_name: our-checkpoints}",
    ),
    RuleRecord(
        "UC5113",
        "A dataset's name is used once in a cluster.",
        remedy="Use a different name for each dataset.",
        source="Our decision: the name is part of ids of constructs, which are contract.",
        example="datasets: [{name: c4}, {name: pile}]",
    ),
    RuleRecord(
        "UC5142",
        "Copies go to a bucket of another cluster.",
        remedy="Name the bucket of the compile cache of another Region.",
        source="Our decision: entries of a cache expire, and must not land among checkpoints.",
    ),
    RuleRecord(
        "UC6018",
        "A compile cache has only settings that its storage supports.",
        remedy="Leave one of them out: a file system has no lifecycle rules, request metrics, versions or copies.",
        source="Our decision: a setting without effect would look as if it did something.",
        example="compile_cache: {on_file_system: true}",
    ),
)
