"""Environment of a job, merged from the cluster, the compile cache, the Neuron settings and the user."""

from collections.abc import Mapping

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.peak_flops import node_peak_tflops
from ultracluster_catalog.neuron.compiler_flags import merge_compiler_flags
from ultracluster_catalog.neuron.neuron import XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.job_definitions import DEVICES_VARIABLE, PROCESSES_VARIABLE

# Values of AWS's multi-node examples: aws-neuron/neuronx-distributed-training, examples/train_setup.sh (glibc's arenas of
# many threads exhaust the memory of the host), and the tutorials for trn2 of the Neuron documentation, 2026-08, whose pages
# name 30 and 600 seconds as the default: a step that waits for another node takes longer than 30.
_NEURON_DEFAULTS = {"MALLOC_ARENA_MAX": "128", "NEURON_RT_EXEC_TIMEOUT": "600"}


def job_environment(
    *,
    region: str,
    cluster: str,
    job: str,
    machine: InstanceType,
    processes: int,
    devices: int | None,
    cache: Mapping[str, str],
    neuron: NeuronSettings | None,
    overrides: Mapping[str, str],
    trains: bool = True,
) -> dict[str, str]:
    """Return the environment variables of a job. Overrides win, except that compiler flags are merged.

    Args:
        region: Region of the job.
        cluster: Name of the cluster, a dimension of the metrics.
        job: Name of the job, a dimension of the metrics.
        machine: Instance type of the nodes, whose peak FLOPS model utilisation is measured against.
        processes: Processes on each node.
        devices: NeuronCores or GPUs of each node, for JAX; None for other launchers.
        cache: Variables of the compile cache; empty without one.
        neuron: Neuron settings; None for Neuron's defaults.
        overrides: Variables of the job type and of the user.
        trains: Whether the job runs a program that may call AWS and report metrics. Default: yes.
    """
    program = {
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "UC_CLUSTER": cluster,
        "UC_JOB": job,
        **_peak(machine),
        PROCESSES_VARIABLE: str(processes),
    }
    variables = {
        **(program if trains else {}),
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        **({} if devices is None else {DEVICES_VARIABLE: str(devices)}),
        **(_NEURON_DEFAULTS if machine.is_neuron else {}),
        **cache,
        **(neuron.variables() if neuron else {}),
        **overrides,
    }
    flags = merge_compiler_flags(
        [
            cache.get(XLA_COMPILER_FLAGS_VARIABLE, ""),
            *(neuron.flags() if neuron else ()),
            overrides.get(XLA_COMPILER_FLAGS_VARIABLE, ""),
        ]
    )
    return {**variables, XLA_COMPILER_FLAGS_VARIABLE: flags} if flags else variables


def _peak(machine: InstanceType) -> dict[str, str]:
    figures = node_peak_tflops(machine)
    return (
        {"UC_PEAK_TFLOPS": ",".join(f"{name}:{figure:g}" for name, figure in figures.items())}
        if figures
        else {}
    )
