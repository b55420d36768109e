"""The environment of a job fits its nodes: the rules that rollout files, constructs and templates share."""

from dataclasses import replace
from typing import Any

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.container import (
    CONTAINER_RULES,
    JOB_RULES,
    Container,
    folders_of_jobs,
    job_environment,
    setting_behind,
)
from ultracluster_spec.findings import Finding
from ultracluster_spec.neuron import Neuron
from ultracluster_spec.rules import findings

TRN1, TRN2, P5 = (INSTANCE_TYPES[name] for name in ("trn1.32xlarge", "trn2.48xlarge", "p5.48xlarge"))
WITHOUT_EFA = INSTANCE_TYPES["trn1.2xlarge"]
LNC = "NEURON_LOGICAL_NC_CONFIG"
JOB = Container(
    environment={},
    node_count=4,
    instance_types=(TRN2,),
    devices=(*TRN2.neuron_devices, *TRN2.efa_devices),
    folders=folders_of_jobs("/fsx", None),
)


def on(node_type: Any, **changes: Any) -> Container:
    devices = (*node_type.neuron_devices, *node_type.efa_devices)
    return replace(JOB, instance_types=(node_type,), devices=devices, **changes)


def found(container: Container, **environment: str | None) -> list[Finding]:
    return findings(CONTAINER_RULES, replace(container, environment=environment))


# Variable, values that are refused, and values beside them that are taken.
VALUES: dict[str, tuple[list[str], list[str]]] = {
    "AWS_REGION": (["mars", "us-east", "", "us-east-2a"], ["us-west-2", "us-gov-west-1"]),
    "CCOM_SOCKET_IFNAME": (["lo", "docker0", "lo,docker0", "=lo"], ["eth0", "eth0,lo", "^lo", "ens5"]),
    "FI_EFA_USE_DEVICE_RDMA": (["0", "maybe"], ["1", "true"]),
    "GLOO_SOCKET_IFNAME": (["ecs-eth0", "veth12ab"], ["eth0"]),
    "LD_PRELOAD": (["/x", "", "tcmalloc", "/lib/a.so /x"], ["libjemalloc.so.2", "/usr/lib/a.so:/opt/b.so.1", "/x.so"]),
    "MASTER_ADDR": (["localhost", "127.0.0.1", "", "::1", "[::1]"], ["main", "10.0.0.4"]),
    "MASTER_PORT": (["99999", "0", "65536", "x"], ["1", "65535", "28400"]),
    "NCCL_DEBUG": (["LOUD"], ["info"]),
    "NCCL_NET": (["Socket", "socket"], ["AWS Libfabric"]),
    "NEURON_CC_FLAGS": (["--target=trn1", "--lnc=4"], ["--target=trn2 --lnc=1", "--model-type=transformer"]),
    "NEURON_COMPILE_CACHE_URL": (["cache", "s3:/bucket", "s3://"], ["s3://bucket/a", "/fsx/cache"]),
    "NEURON_LOGICAL_NC_CONFIG": (["4", "0"], ["1", "2"]),
    "NEURON_PLATFORM_TARGET_OVERRIDE": (["trn1"], ["trn2"]),
    "NEURON_RT_EXEC_TIMEOUT": (["5", "29", "0", "soon"], ["30", "600"]),
    "NEURON_RT_NUM_CORES": (["9999", "129", "65", "0", "all"], ["64", "1"]),
    "NEURON_RT_ROOT_COMM_ID": (["127.0.0.1:62182", "main", "main:0"], ["10.0.0.4:62182"]),
    "NEURON_RT_VISIBLE_CORES": (["900", "0-64", "0-128", "all", "0-"], ["0-63", "0-15,16-63", "3"]),
    "OMP_NUM_THREADS": (["0"], ["1"]),
    "PATH": (["/x", "$PATH:/x", "/opt/efa/bin"], ["/opt/venv/bin:/usr/bin", "/bin", "/usr/local/bin:/x"]),
    "PJRT_DEVICE": (["CPU"], ["NEURON"]),
    "RANK": (["7", "0"], []),
    "TORCH_NEURONX_NEFF_CACHE_DIR": (["s3://bucket/cache", "cache"], ["/fsx/cache"]),
    "WORLD_SIZE": (["0", "-1"], ["256"]),
}  # fmt: skip
REFUSED = [(name, text) for name, (wrong, _) in VALUES.items() for text in wrong]
TAKEN = [(name, text) for name, (_, right) in VALUES.items() for text in right]


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_a_value_that_is_of_no_use_is_refused_once_at_its_variable(name: str, text: str) -> None:
    (finding,) = found(JOB, **{name: text})

    assert (finding.code, finding.path) == ("UC6416", f"environment.{name}")
    assert finding.allowed


@pytest.mark.parametrize(("name", "text"), TAKEN)
def test_a_value_that_is_of_use_is_taken(name: str, text: str) -> None:
    assert found(JOB, **{name: text}) == []


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_only_a_deployment_knows_is_not_judged(name: str) -> None:
    assert found(JOB, **{name: None}) == []


@pytest.mark.parametrize(
    ("container", "name", "text", "code"),
    [
        (replace(JOB, node_count=1), "MASTER_ADDR", "localhost", None),
        (replace(JOB, node_count=None), "MASTER_ADDR", "localhost", "UC6416"),
        (replace(JOB, node_count=1), "RANK", "0", None),
        (replace(JOB, node_count=1), "CCOM_SOCKET_IFNAME", "lo", None),
        (on(WITHOUT_EFA), "NCCL_NET", "Socket", None),
        (on(WITHOUT_EFA), "FI_EFA_USE_DEVICE_RDMA", "0", None),
        (on(WITHOUT_EFA), "MASTER_ADDR", "localhost", "UC6416"),
        (on(TRN1), "NEURON_LOGICAL_NC_CONFIG", "2", "UC6416"),
        (replace(JOB, instance_types=(TRN2, TRN1)), "NEURON_LOGICAL_NC_CONFIG", "2", None),
        (replace(JOB, instance_types=(TRN2, TRN1)), "NEURON_LOGICAL_NC_CONFIG", "4", "UC6416"),
        (replace(JOB, instance_types=(), devices=("/dev/neuron0",)), "FI_EFA_USE_DEVICE_RDMA", "0", None),
        (replace(JOB, instance_types=()), "FI_EFA_USE_DEVICE_RDMA", "0", "UC6416"),
        (on(TRN1), "NEURON_RT_NUM_CORES", "33", "UC6416"),
        (on(TRN1), "NEURON_RT_NUM_CORES", "32", None),
        (on(P5), "CUDA_VISIBLE_DEVICES", "0", "UC6416"),
        (on(P5), "CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7", None),
        (on(P5, node_count=1), "CUDA_VISIBLE_DEVICES", "0", None),
        (on(P5), "NEURON_RT_NUM_CORES", "8", "UC6402"),
        (on(P5, privileged=True), "NEURON_RT_NUM_CORES", "8", None),
        (replace(JOB, instance_types=(), devices=()), "PJRT_DEVICE", "CPU", None),
        (replace(JOB, instance_types=(), devices=None), "NEURON_RT_NUM_CORES", "9999", None),
        (JOB, "FI_PROVIDER", "tcp", "UC6408"),
        (JOB, "FI_PROVIDER", "efa", None),
        (on(WITHOUT_EFA), "FI_PROVIDER", "tcp", None),
        (JOB, "CHECKPOINT_DIR", "/data/x", "UC6417"),
        (JOB, "CHECKPOINT_DIR", "/fsx2/x", "UC6417"),
        (JOB, "CHECKPOINT_DIR", "/run/ultracluster/x", "UC6417"),
        (JOB, "CHECKPOINT_DIR", "/fsx", None),
        (JOB, "CHECKPOINT_DIR", "s3://bucket/x", None),
        (JOB, "DATA_DIR", "/data", None),
        (replace(JOB, folders={}), "CHECKPOINT_DIR", "/data/x", None),
        (replace(JOB, folders=None), "CHECKPOINT_DIR", "/data/x", None),
    ],
)  # fmt: skip
def test_what_is_right_depends_on_the_nodes(
    container: Container, name: str, text: str, code: str | None
) -> None:
    assert [finding.code for finding in found(container, **{name: text})] == ([code] if code else [])


@pytest.mark.parametrize(
    ("container", "place"),
    [
        (replace(JOB, processes=64), None),
        (replace(JOB, processes=16), None),
        (replace(JOB, processes=24), "processes_per_node"),
        (replace(JOB, processes=128), "processes_per_node"),
        (replace(JOB, processes=128, environment={LNC: "1"}), None),
        (replace(JOB, processes=64, environment={LNC: "1"}), "processes_per_node"),
        (replace(JOB, processes=64, environment={LNC: "1"}, processes_place=("environment", LNC)), f"environment.{LNC}"),
        (replace(JOB, processes=64, environment={LNC: "2"}), None),
        (on(TRN1, processes=16), "processes_per_node"),
        (on(TRN1, processes=32), None),
        (on(WITHOUT_EFA, processes=3), "processes_per_node"),
        (on(WITHOUT_EFA, processes=2), None),
        (on(P5, processes=999), None),
        (replace(JOB, instance_types=(), processes=999), None),
        (replace(JOB, instance_types=(TRN1, TRN2), processes=64), None),
        (replace(JOB, instance_types=(TRN1, TRN2), processes=65), "processes_per_node"),
        (replace(JOB, environment={"NPROC_PER_NODE": "24"}), "environment.NPROC_PER_NODE"),
        (replace(JOB, environment={"UC_PROCESSES_PER_NODE": "128"}), "environment.UC_PROCESSES_PER_NODE"),
        (replace(JOB, command=("torchrun", "--nproc_per_node=24", "train.py")), "command[1]"),
        (replace(JOB, command=("torchrun", "--nproc-per-node", "24", "train.py")), "command[1]"),
        (replace(JOB, command=("bash", "-c", "torchrun --nproc_per_node=24 train.py")), "command[2]"),
        (replace(JOB, command=("--nproc_per_node=24", "train.py"), launcher="torchrun"), "command[0]"),
        (replace(JOB, command=("torchrun", "--nproc_per_node=auto", "train.py")), None),
        (replace(JOB, command=("train.py", "--nproc_per_node=24")), None),
        (replace(JOB, command=("torchrun", "train.py", "--nproc_per_node=24")), None),
    ],
)  # fmt: skip
def test_a_node_has_cores_and_collectives_for_its_processes(container: Container, place: str | None) -> None:
    found = [(each.code, each.path) for each in findings(CONTAINER_RULES, container)]

    assert found == ([("UC6103", place)] if place else [])


@pytest.mark.parametrize(
    ("nodes", "command", "places"),
    [
        (4, ("torchrun", "--standalone", "train.py"), ["command[1]"]),
        (None, ("torchrun", "--standalone", "train.py"), ["command[1]"]),
        (1, ("torchrun", "--standalone", "train.py"), []),
        (4, ("/opt/bin/torchrun", "--nnodes=4", "--node_rank=0", "train.py"), ["command[2]"]),
        (4, ("torchrun", "--nnodes=4", "--node_rank=$RANK", "train.py"), []),
        (4, ("torchrun", "--nnodes", "2", "train.py"), ["command[1]"]),
        (None, ("torchrun", "--nnodes", "2", "train.py"), []),
        (None, ("torchrun", "--nnodes", "1", "train.py"), ["command[1]"]),
        (4, ("torchrun", "--nnodes=2:4", "train.py"), []),
        (4, ("torchrun", "--rdzv_endpoint=localhost:29400", "train.py"), ["command[1]"]),
        (4, ("torchrun", "--rdzv_endpoint=$MAIN:29400", "train.py"), []),
        (4, ("torchrun", "--master_addr", "127.0.0.1", "train.py"), ["command[1]"]),
        (4, ("torchrun", "-m", "train", "--standalone"), []),
        (4, ("torchrun", None, "train.py", "--standalone"), []),
        (4, ("sh", "-c", "exec torchrun --standalone train.py"), ["command[2]"]),
        (4, ("train.py", "--standalone"), []),
    ],
)
def test_torchrun_joins_the_nodes_of_a_job(
    nodes: int | None, command: tuple[str | None, ...], places: list[str]
) -> None:
    found = findings(CONTAINER_RULES, replace(JOB, node_count=nodes, command=command))

    assert [(each.code, each.path) for each in found] == [("UC6144", place) for place in places]


def test_programs_are_compiled_for_the_size_of_cores_that_they_run_with() -> None:
    for size, codes in (("1", ["UC6416"]), ("2", [])):
        environment = {"NEURON_CC_FLAGS": "--lnc=2", "NEURON_LOGICAL_NC_CONFIG": size}

        assert [finding.code for finding in found(JOB, **environment)] == codes


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("CHECKPOINTS", "s3://mine/run", True),
        ("CHECKPOINTS", "s3://theirs/run", False),
        ("CORPUS", "s3://theirs/c4/part", True),
        ("CORPUS", "s3://theirs/c4", True),
        ("CORPUS", "s3://theirs/other", False),
        ("CORPUS", "https://theirs/other", True),
    ],
)
def test_objects_that_the_environment_names_may_be_used(name: str, text: str, *, allowed: bool) -> None:
    objects = {"s3:GetObject": ("mine/*", "theirs/c4/*"), "s3:PutObject": ("mine/*",)}
    known = replace(JOB, environment={name: text}, objects=objects)

    assert [finding.code for finding in findings(JOB_RULES, known)] == ([] if allowed else ["UC6419"])
    assert findings(JOB_RULES, replace(known, objects=None)) == []


def test_a_definition_is_refused_where_it_is_largest() -> None:
    places = {
        "command": replace(JOB, command=tuple(f"--option={number}" for number in range(1_600))),
        "environment.B": replace(JOB, environment={"A": "x", "B": "x" * 24_000}),
        "secrets.S": replace(JOB, secrets={"S": "x" * 24_000}),
    }

    for place, container in places.items():
        assert [(each.code, each.path) for each in findings(JOB_RULES, container)] == [("UC6411", place)]


def test_given_variables_win_and_compiler_flags_are_merged() -> None:
    cache = {"NEURON_CC_FLAGS": "--retry_failed_compilation", "NEURON_COMPILE_CACHE_URL": "s3://cache"}
    given = {"NEURON_CC_FLAGS": "--verbose=info", "FI_PROVIDER": "tcp", "SEED": "1"}

    made = job_environment(Neuron(optlevel=1, exec_timeout_seconds=60), TRN2, given=given, cache=cache)

    assert made == {
        "FI_PROVIDER": "tcp",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "MALLOC_ARENA_MAX": "128",
        "NEURON_RT_EXEC_TIMEOUT": "60",
        "NEURON_COMPILE_CACHE_URL": "s3://cache",
        "NEURON_CC_FLAGS": "--retry_failed_compilation --optlevel=1 --verbose=info",
        "SEED": "1",
    }
    assert "NEURON_RT_EXEC_TIMEOUT" not in job_environment(Neuron(), P5, given={}, cache={})


@pytest.mark.parametrize(
    ("variable", "given", "place"),
    [
        ("NEURON_RT_EXEC_TIMEOUT", {}, ("neuron", "exec_timeout_seconds")),
        ("NEURON_RT_EXEC_TIMEOUT", {"NEURON_RT_EXEC_TIMEOUT": "5"}, ("environment", "NEURON_RT_EXEC_TIMEOUT")),
        ("NEURON_CC_FLAGS", {}, ("neuron", "compiler_flags")),
        ("FI_PROVIDER", {}, ("environment", "FI_PROVIDER")),
    ],
)  # fmt: skip
def test_a_variable_is_traced_to_the_setting_that_made_it(
    variable: str, given: dict[str, str], place: tuple[str, str]
) -> None:
    assert setting_behind(("environment", variable), given) == place
