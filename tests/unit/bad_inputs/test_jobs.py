"""Rows 91 and 92: the environment of jobs, and what else of a job was found at its synthesis only."""

from collections.abc import Callable

import pytest
from tests.unit.bad_inputs.rows import Row, cluster, job, refused, taken

_DELETIONS = '{file_system_path: /a, data_repository_path: "s3://ours-only/", export_events: [NEW, DELETED]}'


def _environment(code: str, name: str, value: str) -> Row:
    """One variable, two lines below the job's name."""
    edit = ("environment: {NEURON_RT_LOG_LEVEL: INFO}", f'environment:\n              {name}: "{value}"')
    return refused(91, f"{name}={value[:30]}", [edit], f"{code} 25 @.jobs[0].environment.{name}")


ROWS = [
    _environment("UC6408", "FI_PROVIDER", "tcp"),
    _environment("UC6416", "NCCL_NET", "Socket"),
    _environment("UC6416", "MASTER_ADDR", "localhost"),
    _environment("UC6416", "MASTER_PORT", "99999"),
    _environment("UC6416", "WORLD_SIZE", "0"),
    _environment("UC6416", "RANK", "7"),
    _environment("UC6416", "NEURON_RT_ROOT_COMM_ID", "127.0.0.1:62182"),
    _environment("UC6416", "NCCL_SOCKET_IFNAME", "docker0"),
    _environment("UC6416", "GLOO_SOCKET_IFNAME", "lo"),
    _environment("UC6416", "PJRT_DEVICE", "CPU"),
    _environment("UC6416", "NEURON_CC_FLAGS", "--target=trn1"),
    _environment("UC6416", "NEURON_COMPILE_CACHE_URL", "cache"),
    _environment("UC6419", "NEURON_COMPILE_CACHE_URL", "s3://elsewhere/cache"),
    _environment("UC6416", "NEURON_RT_NUM_CORES", "9999"),
    _environment("UC6416", "NEURON_RT_VISIBLE_CORES", "900"),
    _environment("UC6416", "NEURON_RT_EXEC_TIMEOUT", "5"),
    _environment("UC6416", "AWS_REGION", "mars"),
    _environment("UC6416", "LD_PRELOAD", "/x"),
    _environment("UC6416", "PATH", "/x"),
    _environment("UC6416", "NEURON_RT_NUM_CORE", "32"),
    _environment("UC6417", "CHECKPOINT_DIR", "/data/checkpoints"),
    _environment("UC6109", "UC_PROCESSES_PER_NODE", "16"),
    _environment("UC6010", "NEURON_CC_FLAGS", "--cache_dir=s3://elsewhere"),
    _environment("UC6411", "TEXT", "x" * 24_576),
    refused(
        92,
        "processes over which there are no collectives",
        [job("processes_per_node: 24")],
        "UC6103 22 @.jobs[0].processes_per_node",
    ),
    refused(
        92,
        "128 workers on 64 cores",
        [job("processes_per_node: 128")],
        "UC6103 22 @.jobs[0].processes_per_node",
    ),
    _environment("UC6103", "NEURON_LOGICAL_NC_CONFIG", "1"),
    refused(
        92,
        "a folder of the scratch disks, which the node of a precompile job does not mount",
        [
            cluster("scratch_path: /scratch"),
            job("kind: precompile\n            instance_type: trn2.3xlarge"),
            ("{NEURON_RT_LOG_LEVEL: INFO}", "{CHECKPOINT_DIR: /scratch/x}"),
        ],
        "UC6417 27 @.jobs[0].environment.CHECKPOINT_DIR",
    ),
    taken(
        92,
        "a folder of the scratch disks in a job over several nodes",
        [
            cluster("scratch_path: /scratch"),
            ("{NEURON_RT_LOG_LEVEL: INFO}", "{CHECKPOINT_DIR: /scratch/x}"),
        ],
    ),
    refused(
        92,
        "torchrun by itself on each node",
        [("[train.py]", '["--standalone", train.py]')],
        "UC6144 23 @.jobs[0].command[0]",
    ),
    refused(
        92,
        "a short timeout among the Neuron settings",
        [job("neuron: {exec_timeout_seconds: 29}")],
        "UC6416 22 @.jobs[0].neuron.exec_timeout_seconds",
    ),
    taken(92, "a timeout of 30 seconds", [job("neuron: {exec_timeout_seconds: 30}")]),
    refused(
        92,
        "a target of other chips among the Neuron settings",
        [job('neuron: {compiler_flags: ["--target=trn1"]}')],
        "UC6416 22 @.jobs[0].neuron.compiler_flags",
    ),
    refused(
        92,
        "a command above the size of a definition",
        [("[train.py]", f"[{', '.join(f'--option={number}' for number in range(1_600))}]")],
        "UC6411 23 @.jobs[0].command",
    ),
    taken(
        92,
        "objects that the permissions of the job name",
        [
            job(
                'permissions: {statements: [{actions: ["s3:GetObject"], resources: ["arn:aws:s3:::theirs/*"]}]}'
            ),
            ("{NEURON_RT_LOG_LEVEL: INFO}", "{CORPUS: s3://theirs/c4}"),
        ],
    ),
    taken(
        92,
        "a bucket of the cluster",
        [
            cluster("checkpoints: {bucket_name: ours-only}"),
            ("{NEURON_RT_LOG_LEVEL: INFO}", "{CHECKPOINTS: s3://ours-only/run}"),
        ],
    ),
    refused(
        92,
        "deletions that reach S3",
        [
            ("{storage_capacity_gib", f"{{associations: [{_DELETIONS}], storage_capacity_gib"),
        ],
        "UC5208 19 @.file_system.associations[0].export_events[1]",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[[str | bytes], tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text) == (row.exit_code, row.reaction)
