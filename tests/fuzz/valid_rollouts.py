"""Valid clusters from the values of the rollout file: Hypothesis draws a value of a field, and the rules say if it stays.

Rules over several fields refuse most clusters whose fields are all drawn at once. So a good cluster is changed field by field, and a
change that it does not take is left out.
"""

import copy
import json
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from yaml import safe_load

from ultracluster_local import LocalAws
from ultracluster_local.seeding import seed_client
from ultracluster_spec.bounds import Between, Form, Known
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.cluster_rules.cluster_rules import broken_by_cluster
from ultracluster_spec.job import Mount, NamedJob
from ultracluster_spec.record import is_error
from ultracluster_spec.values import Value, annotations, default_of
from ultracluster_stacks.config.loading.suppressions import refused_suppressions
from ultracluster_stacks.config.records import RECORDS

__all__ = ["clusters", "clusters_with_jobs", "drawn"]

_IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
_BASE: Mapping[str, Any] = {
    "name": "train",
    "region": "us-east-2",
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "nodes": 4,
    "image_id": "ami-0123456789abcdef0",
}
_BASES: tuple[Mapping[str, Any], ...] = (
    {**_BASE, "capacity": {"reservation_id": "cr-0123456789abcdef0"}},
    {**_BASE, "capacity": {"market_type": "on-demand"}},
    {**_BASE, "capacity": {"market_type": "spot"}, "instance_type": "trn1.2xlarge", "nodes": 1},
    {**_BASE, "capacity": {"market_type": "on-demand"}, "instance_type": "p5.48xlarge"},
    {**_BASE, "capacity": {"market_type": "on-demand"}, "instance_type": "trn1.32xlarge"},
)
# Kinds of file systems, of which hardly any but the first would be drawn.
_NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "subnet_id": "subnet-0123456789abcdef0",
    "security_group_id": "sg-0123456789abcdef0",
    "add_efa_rules": True,
}
_EXISTING = {"file_system_id": "fs-0123456789abcdef0", "mount_name": "abcdefgh", "zone_id": "use2-az3"}
_KINDS: tuple[Mapping[str, Any], ...] = (
    {},
    {"file_system": {"storage_capacity_gib": 9600}},
    {"file_system": "none"},
    {"network": _NETWORK, "file_system": {**_EXISTING, "security_group_id": "sg-0123456789abcdef1"}},
)
# What a job is hardly ever taken without.
_JOB = {"image": _IMAGE, "command": ["train.py"]}

# Where a cluster is, and what its account must have.
_KEPT = {"name", "region", "zone_id", "account", "profile", "custom_instance_type"}
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.sampled_from([0, 1, 2, 125, 250, 1000, 1200, 1500, 2400, 3000, 4000, 4800, 6000, 12000, 19200]),
    float: st.floats(0.1, 1000),
    str: st.sampled_from(["/data", "/scratch", "03:30", "jane@example.com"])
    | st.from_regex(r"[a-z][a-z0-9/_.-]{0,20}", fullmatch=True),
    datetime: st.integers(0, 90).map(
        lambda days: f"{date(2026, 12, 1) + timedelta(days):%Y-%m-%d}T11:30:00Z"
    ),
}


def _values(annotation: Any, rules: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values of a field, as the file has them."""
    ruled = [_ruled(rule) for rule in rules if isinstance(rule, Form | Known | Between)]
    if ruled:
        return ruled[0]
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return _values(parts[0], parts[1:])
    if origin is not None:
        return _composed(origin, parts)
    return _PLAIN[annotation] if annotation in _PLAIN else _items(annotation)


def _ruled(rule: Form | Known | Between) -> st.SearchStrategy[Any]:
    if isinstance(rule, Form):
        return st.from_regex(
            rule.pattern, fullmatch=True, alphabet=st.characters(min_codepoint=32, max_codepoint=126)
        )
    if isinstance(rule, Known):
        return st.sampled_from(sorted(rule.names))
    ends = st.sampled_from([rule.least, rule.least + 1, rule.most - 1, rule.most])
    return ends | st.integers(rule.least, min(rule.most, rule.least + 100))


def _composed(origin: Any, parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple:
        return st.lists(_values(parts[0]), min_size=1, max_size=2)
    if origin is dict:
        return st.dictionaries(_values(parts[0]), _values(parts[1]), max_size=3)
    return st.one_of([_values(part) for part in parts if part is not type(None)])  # a union


@st.composite
def _items(draw: st.DrawFn, part: type[Value]) -> dict[str, Any]:
    """What a mapping requires, and one or two further keys."""
    fields = annotations(part)
    names = [name for name in fields if default_of(part, name) is MISSING]
    others = sorted(set(fields) - set(names))
    if others:
        names += draw(st.lists(st.sampled_from(others), max_size=2, unique=True))
    return {name: draw(_values(fields[name])) for name in names}


# Drawn text is hardly ever an ARN, without which no security group is taken.
_PLAIN[Mount] = _items(Mount) | st.fixed_dictionaries(
    {
        "source": st.just("arn:aws:s3files:us-east-2:123456789012:file-system/fs-0123456789abcdef0"),
        "path": st.sampled_from(["/data", "/scratch"]),
    },
    optional={"read_only": st.booleans(), "security_group_id": st.just("sg-0123456789abcdef0")},
)

_READ = TypeAdapter(Cluster).validate_python
_FIELDS = {name: each for name, each in annotations(Cluster).items() if name not in _KEPT}


@st.composite
def clusters(draw: st.DrawFn, *, most_changes: int = 16) -> dict[str, Any]:
    """A cluster of a rollout file that is taken, perhaps with warnings.

    Args:
        draw: Of Hypothesis.
        most_changes: How many fields are tried at most.
    """
    cluster = copy.deepcopy(dict(draw(st.sampled_from(_BASES))))
    for name in draw(st.lists(st.sampled_from(sorted(_FIELDS)), min_size=6, max_size=most_changes)):
        given = draw(_values(_FIELDS[name]))
        if name == "jobs":
            given = [{**each, **_JOB} for each in given]
        if isinstance(given, dict) and isinstance(cluster.get(name), dict):
            given = {**cluster[name], **given}
        changed = {**cluster, name: given}
        if _is_taken(changed):
            cluster = changed
    return cluster


# Variables that the rules know, and values of some of them, right and wrong.
_ENVIRONMENT = st.dictionaries(
    st.sampled_from(
        [
            *("CHECKPOINT_DIR", "FI_EFA_USE_DEVICE_RDMA", "FI_PROVIDER", "MASTER_PORT", "NCCL_NET", "OUTPUT_DIR"),
            *("NEURON_CC_FLAGS", "NEURON_COMPILE_CACHE_URL", "NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_NUM_CORES"),
            *("NEURON_RT_VISIBLE_CORES", "PATH", "PJRT_DEVICE", "RANK", "SEED", "WORLD_SIZE"),
        ]
    ),
    st.sampled_from(
        [
            *("0", "1", "2", "32", "64", "128", "efa", "tcp", "NEURON", "CUDA", "/usr/bin"),
            *("/fsx/x", "/data/x", "/scratch/x", "s3://theirs/x", "--lnc=1", "--target=trn1"),
        ]
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip
_CHANGES: tuple[dict[str, Any], ...] = tuple(
    safe_load(Path(__file__).with_name("changes.yaml").read_text(encoding="utf-8"))
)
_MOST_CHANGES = 14
_OF_JOBS = {
    name: each for name, each in annotations(NamedJob).items() if name not in {"name", "image", "command"}
}
_MOST_JOBS = 3
_MOST_SETTINGS = 8


@st.composite
def clusters_with_jobs(draw: st.DrawFn) -> dict[str, Any]:
    """A cluster that is taken, with jobs whose fields are drawn one by one, so that many are away from their defaults."""
    cluster = draw(clusters(most_changes=8)) | {"jobs": []}
    of_kind = cluster | copy.deepcopy(dict(draw(st.sampled_from(_KINDS))))
    cluster = of_kind if _is_taken(of_kind) else cluster
    for change in draw(
        st.lists(st.sampled_from(_CHANGES), min_size=_MOST_CHANGES // 2, max_size=_MOST_CHANGES)
    ):
        changed = _merged(cluster, change)
        cluster = changed if _is_taken(changed) else cluster
    for number in range(_MOST_JOBS):
        kind = draw(st.sampled_from(get_args(_OF_JOBS["kind"])))
        plain = {"name": f"job{number}", "kind": kind, **_JOB}
        # Where no smaller type has the chips, graphs that were collected before are compiled on CPUs.
        tried = [plain, plain | {"phase": "compile"}]
        job = next((each for each in tried if _is_taken({**cluster, "jobs": [*cluster["jobs"], each]})), None)
        if job is None:
            continue
        names = st.lists(st.sampled_from(sorted(_OF_JOBS)), min_size=4, max_size=_MOST_SETTINGS, unique=True)
        further = ["method", "instance_type"] if kind == "precompile" else ["launcher", "gates"]
        for name in (*further, "neuron", *draw(names)):
            changed = {**job, name: draw(_of_job(name, cluster))}
            if _is_taken({**cluster, "jobs": [*cluster["jobs"], changed]}):
                job = changed
        cluster["jobs"].append(job)
    return cluster


def _merged(values: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Values with those of a change in place of theirs, also in the mappings in both."""
    both = {
        name: _merged(values[name], given)
        for name, given in change.items()
        if isinstance(given, dict) and isinstance(values.get(name), dict)
    }
    return {**values, **change, **both}


def _of_job(name: str, cluster: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a field of a job, as the file has them."""
    names = {
        "depends_on": [each["name"] for each in cluster["jobs"]],
        "queue": [each["name"] for each in cluster.get("additional_queues", ())],
    }
    if name == "environment":
        return _ENVIRONMENT
    if name == "nodes":
        return st.integers(1, cluster["nodes"])
    if name == "neuron":
        # What compilers take together, and one drawn field after another hardly ever is.
        cast = {"auto_cast": "matmult", "auto_cast_type": "tf32"}
        together = cast, {"llm_training": True}, {"saturate_infinity": True}, {"logical_nc_config": 1}
        return st.sampled_from(together) | _values(_OF_JOBS[name])
    if name == "secrets":
        return st.just({"HF_TOKEN": f"arn:aws:ssm:{cluster['region']}:123456789012:parameter/hf-token"})
    if name in names:
        chosen = st.sampled_from(names[name] or ["nobody"])
        return chosen if name == "queue" else chosen.map(lambda each: [each])
    return _values(_OF_JOBS[name])


def drawn(
    count: int, *, by: int | None = None, of: st.SearchStrategy[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """At most `count` clusters that are all different, drawn by a seed; without one, the same in each run."""
    found: dict[str, dict[str, Any]] = {}

    @settings(
        max_examples=count,
        derandomize=by is None,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(clusters() if of is None else of)
    def draw(cluster: dict[str, Any]) -> None:
        found[json.dumps(cluster, sort_keys=True)] = cluster

    (draw if by is None else seed(by)(draw))()
    return list(found.values())


def _is_taken(cluster: Mapping[str, Any]) -> bool:
    try:
        config = _READ(_as_read(cluster))
    except ValidationError:
        return False
    found = [finding for _, finding in broken_by_cluster(config)]
    found += (problem.finding for problem in refused_suppressions({(): config.suppress}))
    return not any(is_error(finding, RECORDS) for finding in found)


def _as_read(value: Any) -> Any:
    """Lists are tuples where YAML was read."""
    if isinstance(value, Mapping):
        return {key: _as_read(part) for key, part in value.items()}
    return tuple(map(_as_read, value)) if isinstance(value, list) else value


def seed_images(local: LocalAws, clusters: Sequence[Mapping[str, Any]]) -> None:
    """Make the images of clusters: Auto Scaling asks for one when a group is made."""
    images = {(each["image_id"], each["region"]) for each in clusters}
    seed_client.seed(
        endpoint=local.endpoint,
        key=local.key,
        regions=sorted({region for _, region in images}),
        images=[
            seed_client.SeedImage(image_id=image_id, region=region) for image_id, region in sorted(images)
        ],
        container_images=[],
        reservations=[],
    )
