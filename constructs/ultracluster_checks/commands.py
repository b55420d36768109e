"""Commands of jobs, and scripts of nodes: how the ranks of all nodes find each other, and what they count."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_checks.codes import JOB_ENVIRONMENT
from ultracluster_checks.jobs import JobContainer, job_containers
from ultracluster_checks.model.nodes import Nodes, nodes_of
from ultracluster_checks.model.template import Property
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.variables import core_size, misfit

_INDEX: Final = "$AWS_BATCH_JOB_NODE_INDEX"
_NODES: Final = "$AWS_BATCH_JOB_NUM_NODES"
_MAIN: Final = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"
_ROOT: Final = re.compile(r"""\bNEURON_RT_ROOT_COMM_ID=["']?([^\s"';&(]+(?:\([^)]*\)[^\s"';&(]*)*)""")
_EXPORT: Final = re.compile(r"""\b(NEURON_[A-Z_]+)=["']?([\w.,-]+)""")


def _option(name: str, text: str) -> str | None:
    """Return the value of an option of torchrun that is a number: https://docs.pytorch.org/docs/stable/elastic/run.html (2026-11)."""
    found = re.search(rf"--{name.replace('_', '[-_]')}[= ]+[\"']?(\d+)\b(?!:)", text)
    return found[1] if found else None


@rule(JOB_ENVIRONMENT, job_containers)
def ranks_meet(container: JobContainer) -> Iterator[Wrong]:
    """Find commands of multi-node jobs whose nodes train apart, have the same rank, or do not find the main node."""
    for at in container.at["Command"].items if (container.nodes or 1) > 1 else ():
        text = at.pattern
        if (nodes := _option("nnodes", text)) and int(nodes) != container.nodes:
            yield at, f"--nnodes {nodes}, and the job has {container.nodes} nodes", _NODES
        if rank := _option("node_rank", text):
            yield at, f"every node has the rank {rank}", _INDEX
        # https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html (2026-11): child nodes have it, the main node does not.
        asks = "AWS_BATCH_JOB_MAIN_NODE_INDEX" in text  # so that the main node may take another way
        if not asks and re.search(r"\bset -\w*u", text) and re.search(rf"\$(?:{_MAIN}\b|{{{_MAIN}}})", text):
            got = f"{_MAIN} is not set on the main node, whose shell ends at unset variables"
            yield at, got, f"${{{_MAIN}:-$(hostname -i)}}"
        if root := _ROOT.search(text):
            yield from _root(at, root[1], _option("master_port", text))


def _root(at: Property, root: str, port: str | None) -> Iterator[Wrong]:
    """Find addresses that are not those of one port of the main node. AWS Neuron documentation, Neuron runtime configuration (2026-11)."""
    allowed = "the address of the main node and a port of its own"
    host, _, number = root.rpartition(":")
    if not re.fullmatch(r"\d+|.*\$.*", number) or not host:
        yield at, f"NEURON_RT_ROOT_COMM_ID: got {root}, without a port", allowed
    elif re.match(r"127\.|localhost|0\.0\.0\.0|\$\(hostname", host):
        yield at, f"NEURON_RT_ROOT_COMM_ID: got {host}, which is another host on each node", allowed
    elif number == port:
        yield at, f"NEURON_RT_ROOT_COMM_ID and --master_port share the port {port}", allowed


@rule(JOB_ENVIRONMENT, job_containers)
def workers_have_cores(container: JobContainer) -> Iterator[Wrong]:
    """Find commands that start more workers on a node than it has Neuron cores, or count cores that it does not have."""
    chips, size = [machine for machine in container.machines if machine.is_neuron], core_size(container)
    for at in container.at["Command"].items if chips and len(chips) == len(container.machines) else ():
        workers = int(_option("nproc_per_node", at.pattern) or 0)
        one = size == 1 or "NEURON_LOGICAL_NC_CONFIG=1" in at.pattern
        most = max(each.neuron_cores if one else each.logical_neuron_cores for each in chips)
        if workers > most:
            yield at, f"{workers} workers on a node, which has {most} Neuron cores", f"{most} at most"
        yield from _miscounted(at, chips, size)


def _miscounted(at: Property, chips: list[InstanceType], size: int | None) -> Iterator[Wrong]:
    """Find variables that a script sets to what the chips do not have."""
    for name, value in _EXPORT.findall(at.pattern):
        if wrong := misfit(name, value, chips, size):
            yield at, f"{name}: got {value}, {wrong[0]}", wrong[1]


@rule(JOB_ENVIRONMENT, nodes_of)
def nodes_count_their_cores(nodes: Nodes) -> Iterator[Wrong]:
    """Find user data that counts Neuron cores which the nodes do not have."""
    if chips := [machine for machine in nodes.types if machine.is_neuron]:
        yield from _miscounted(nodes.data["UserData"], chips, None)
