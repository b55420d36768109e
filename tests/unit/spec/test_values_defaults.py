"""A default of a value stands once: changed there, it has the effect of the same setting written into the file."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import aws_cdk as cdk
import pytest
import yaml
from constructs import Construct
from pydantic import TypeAdapter
from tests.unit.spec.value_parts import parts_of

import ultracluster
from ultracluster_runtime.functions.window import CHECKPOINT_LEAD
from ultracluster_runtime.lifecycle.reader import ManagedBlock
from ultracluster_spec import (
    alarms,
    buckets,
    capacity,
    cluster,
    file_system,
    job,
    network,
    neuron,
    nodes,
    queue,
)
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import Value, default_of, fields_of, sentences
from ultracluster_stacks.config.loading import loader
from ultracluster_stacks.cost.footprint import configured_footprint
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

pytestmark = pytest.mark.slow

QUICKSTART = yaml.safe_load((Path(__file__).parents[3] / "stacks/rollouts/quickstart.yaml").read_text())
COMPILED = {"kind": "precompile", "nodes": None, "resume": None, "instance_type": "trn2.3xlarge"}
ON_DEMAND = {"capacity": {"market_type": "on-demand", "reservation_id": None}}
UNLINKED = {"file_system": {"link_checkpoints": False}}
OVER_EFA = {"instance_type": "trn1.32xlarge", "file_system": {"storage_capacity_gib": 19_200}, **ON_DEMAND}


class Row(NamedTuple):
    """A default: where its value stands in the cluster of the quick start, another default, and what else is set."""

    part: type[Value]
    name: str
    place: tuple[str | int, ...]
    other: Any
    besides: dict[str, Any] = {}  # noqa: RUF012 - never changed
    effect: str = "template"
    """What the default changes: templates, cost, or why neither."""


JOB = ("jobs", 0)
FILES = ("file_system",)
ROWS = [
    Row(cluster.Cluster, "removal_policy", (), "destroy"),
    Row(cluster.Cluster, "checkpoint_lead_minutes", (), 30),
    Row(cluster.Cluster, "max_refusals", (), 7),
    Row(cluster.Cluster, "sick_nodes", (), "replace"),
    Row(
        capacity.CapacityRecord,
        "market_type",
        ("capacity",),
        "on-demand",
        {"capacity": {"market_type": None}},
        effect="template and cost",
    ),
    Row(capacity.CapacityRecord, "launched_by", ("capacity",), "auto-scaling"),
    Row(queue.Queue, "priority", ("queue",), 5),
    Row(queue.Queue, "compute_reservation_percent", ("queue",), 5),
    Row(queue.Queue, "notify_blocked", ("queue",), other=True),
    Row(network.Network, "cidr", ("network",), "10.9.0.0/16"),
    Row(network.Network, "nic_layout", ("network",), "all-efa"),
    Row(network.Network, "placement", ("network",), "none", ON_DEMAND),
    Row(network.Network, "nat_gateway", ("network",), other=True, effect="template and cost"),
    Row(
        file_system.FileSystem,
        "deployment_type",
        FILES,
        "SCRATCH_2",
        {"file_system": {"per_unit_storage_throughput": None}},
        effect="template and cost",
    ),
    Row(nodes.RootVolume, "size_gib", ("root_volume",), 512, effect="template and cost"),
    Row(nodes.RootVolume, "throughput", ("root_volume",), 750, effect="template and cost"),
    Row(file_system.FileSystem, "efa", FILES, other=True, besides=OVER_EFA, effect="template and cost"),
    Row(file_system.FileSystem, "data_compression", FILES, other=False),
    Row(file_system.FileSystem, "link_checkpoints", FILES, other=False),
    Row(file_system.FileSystem, "backup_retention_days", FILES, 9, UNLINKED, effect="template and cost"),
    Row(
        file_system.FileSystem,
        "copy_tags_to_backups",
        FILES,
        other=True,
        besides={"file_system": {"backup_retention_days": 9, "link_checkpoints": False}},
        effect="template and cost",
    ),
    Row(
        file_system.Association, "import_existing", (*FILES, "associations", 0), other=False, besides=UNLINKED
    ),
    Row(
        buckets.CompileCacheSettings,
        "on_file_system",
        ("compile_cache",),
        other=True,
        effect="template and cost",
    ),
    Row(buckets.CompileCacheSettings, "versioned", ("compile_cache",), other=True),
    Row(
        buckets.CompileCacheSettings,
        "request_metrics",
        ("compile_cache",),
        other=True,
        effect="template and cost",
    ),
    Row(job.Job, "launcher", JOB, "raw"),
    Row(job.Job, "resume", JOB, 3, {"jobs": [{"resume": None}]}),
    Row(
        job.Job,
        "without_efa",
        JOB,
        other=True,
        besides={"instance_type": "trn1.2xlarge", "jobs": [{"nodes": 1}], **ON_DEMAND},
    ),
    Row(job.Job, "method", JOB, "first-steps", {"jobs": [COMPILED]}),
    Row(job.Job, "phase", JOB, "compile", {"jobs": [COMPILED]}),
    Row(job.NamedJob, "kind", JOB, "single-node", {"jobs": [{"nodes": None}]}),
    Row(job.Gates, "fabric", (*JOB, "gates"), other=True),
    Row(job.Gates, "smoke", (*JOB, "gates"), other=True),
    Row(neuron.Neuron, "llm_training", (*JOB, "neuron"), other=True),
    Row(neuron.Neuron, "saturate_infinity", (*JOB, "neuron"), other=True),
    Row(alarms.Alarms, "enabled", ("alarms",), other=False, effect="template and cost"),
    Row(alarms.Alarms, "dashboard", ("alarms",), other=False, effect="template and cost"),
    Row(alarms.Alarms, "weekly_report", ("alarms",), other=True),
    *(
        Row(alarms.Alarms, name, ("alarms",), default_of(alarms.Alarms, name) + 1)
        for name in fields_of(alarms.Alarms)
        if type(default_of(alarms.Alarms, name)) is int
    ),
]
SAMPLE = {"nat_gateway", "resume"}
IDS = [f"{row.part.__name__}.{row.name}" for row in ROWS]


def _merged(base: Any, changes: Any) -> Any:
    """The document with some of its settings changed; None takes one out."""
    if isinstance(changes, list):
        return [_merged(old, new) for old, new in zip(base, changes, strict=True)]
    if not isinstance(changes, dict):
        return changes
    whole = {**(base or {}), **{name: _merged((base or {}).get(name), new) for name, new in changes.items()}}
    return {name: content for name, content in whole.items() if content is not None}


def _document(row: Row, folder: Path, *, written: bool) -> Path:
    document = deepcopy(QUICKSTART)
    given = document["waves"][0]["clusters"][0] = _merged(document["waves"][0]["clusters"][0], row.besides)
    place = given
    for index, step in enumerate(row.place):
        if isinstance(step, int):
            place = place[step]
        else:
            is_list = index + 1 < len(row.place) and isinstance(row.place[index + 1], int)
            empty: Any = (
                [{"data_repository_path": "s3://corpora", "file_system_path": "/data"}] if is_list else {}
            )
            place = place.setdefault(step, empty)
    if written:
        place[row.name] = row.other
    path = folder / "rollout.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


@contextmanager
def _default(part: type[Value], name: str, other: Any) -> Iterator[None]:
    """Change a default where it is declared, for a class and those made of it."""
    with pytest.MonkeyPatch.context() as patch:
        for each in (part, *part.__subclasses__()):
            if fields_of(each)[name].default == default_of(part, name) or each is part:
                patch.setitem(each.__init__.__kwdefaults__, name, other)  # type: ignore[misc,arg-type]
        for each in (part, *part.__subclasses__()):
            patch.setattr(fields_of(each)[name], "default", other)
        loader._reader.cache_clear()
        try:
            yield
        finally:
            patch.undo()
            loader._reader.cache_clear()


def _effects(path: Path) -> tuple[Any, Any]:
    (given,) = loader.load_rollout(path).config.clusters()
    app = cdk.App(outdir=str(path.parent / "cdk.out"), analytics_reporting=False)
    stage = ClusterStage(app, config=given)
    templates = [stack.template for stack in stage.synth().stacks]
    return templates, configured_footprint(given)


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=() if row.name in SAMPLE else pytest.mark.deep) for row in ROWS],
    ids=IDS,
)
def test_a_changed_default_has_the_effect_of_writing_it(row: Row, tmp_path: Path) -> None:
    base = _effects(_document(row, tmp_path, written=False))
    written = _effects(_document(row, tmp_path, written=True))
    with _default(row.part, row.name, row.other):
        changed = _effects(_document(row, tmp_path, written=False))

    assert changed == written
    assert written[0] != base[0]
    assert (written[1] != base[1]) is ("cost" in row.effect)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_changed_default_is_that_of_the_schema(row: Row) -> None:
    with _default(row.part, row.name, row.other):
        schema = TypeAdapter(row.part).json_schema()
    properties = schema.get("properties") or schema["$defs"][row.part.__name__]["properties"]

    assert properties[row.name]["default"] == row.other


NOT_ALONE = {
    "Mount.read_only": "of a mount, which has no default",
    "CustomInstanceType.efa": "facts of a type that nobody sells yet: no template differs without its other figures",
    "CustomInstanceType.instances_per_ultraserver": "as efa",
    "CustomInstanceType.nvme_disks": "as efa",
    "CustomInstanceType.nvme_gb": "as efa",
    "FileSystem.storage_type": "HDD and INTELLIGENT_TIERING need other settings with them",
    "Network.add_efa_rules": "acts on a security group that exists, and is then judged by preflight",
    "NetworkInterface.device": "the second interface of a card is refused without its first",
}


def test_every_default_is_tried_or_has_its_reason() -> None:
    found = {
        f"{part.__name__}.{name}"
        for part in parts_of(Rollout).values()
        for name in fields_of(part)
        if isinstance(default_of(part, name), (bool, int, str))
    }
    tried = {f"{part.__name__}.{row.name}" for row in ROWS for part in (row.part, *row.part.__subclasses__())}

    assert found <= tried | NOT_ALONE.keys()
    assert NOT_ALONE.keys() <= found - tried


def test_an_argument_of_a_construct_has_the_default_of_the_field_with_its_name() -> None:
    """A signature says its default, so that an editor shows it; this is why it is that of the value."""
    defaults: dict[str, list[Any]] = {}
    for part in parts_of(Rollout).values():
        for name in fields_of(part):
            defaults.setdefault(name, []).append(default_of(part, name))
    arguments = {
        f"{method.__qualname__}.{name}": (name, argument.default)
        for construct in (getattr(ultracluster, each) for each in ultracluster.__all__)
        if isinstance(construct, type) and issubclass(construct, Construct)
        for _, method in inspect.getmembers(construct, inspect.isroutine)
        if str(getattr(method, "__module__", "")).startswith("ultracluster.")
        for name, argument in inspect.signature(method).parameters.items()
        if name in defaults and isinstance(argument.default, (bool, int, str))
    }

    others = [place for place, (name, default) in arguments.items() if default not in defaults[name]]
    assert others == ["NeuronAmi.__init__.instance_type"]  # which builds the image
    assert {"UltraCluster.__init__.max_refusals", "ClusterNetwork.__init__.cidr"} <= {*arguments}
    assert default_of(cluster.Cluster, "checkpoint_lead_minutes") * 60 == CHECKPOINT_LEAD.total_seconds()
    assert default_of(cluster.Cluster, "max_refusals") == default_of(ManagedBlock, "max_refusals")


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_sentence_of_a_default_says_it(row: Row) -> None:
    sentence, default = sentences(row.part)[row.name], default_of(row.part, row.name)
    said = sentence.partition("Default: ")[2]

    words = default if isinstance(default, str) else f"{default:,}"
    if row.name == "backup_retention_days":
        words = "no backups"
    if isinstance(default, bool):
        words = "yes" if default else "no" if row.name != "versioned" else "only with `replicate_to`"
    assert said.startswith(words), sentence
