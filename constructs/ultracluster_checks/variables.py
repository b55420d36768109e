"""Environment variables of jobs: what a container is given, and what the nodes of a job agree on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ultracluster_catalog.neuron.neuron import XLA_CACHE_VARIABLE
from ultracluster_checks.jobs import JOB_DEFINITION, JobContainer, job_containers
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.state import BUCKET
from ultracluster_spec.container import CONTAINER_RULES, CORE_SIZE_VARIABLES, JOB_ENVIRONMENT
from ultracluster_spec.findings import quote
from ultracluster_spec.rules import broken

# All ranks of a job agree on them; the main node knows its own address.
_SHARED: Final = {
    "FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "NCCL_NET", "NEURON_RT_NUM_CORES", *CORE_SIZE_VARIABLES,
}  # fmt: skip
_OF_MAIN: Final = {"MASTER_ADDR", "MASTER_PORT", "NEURON_RT_ROOT_COMM_ID"}


@rule("", job_containers)
def containers_fit_their_nodes(container: JobContainer) -> Iterator[Wrong]:
    """Find what is wrong with the environment of a container, by the rules of rollout files and constructs."""
    for (kind, name), finding in broken(CONTAINER_RULES, container.value):
        if kind == "command":
            yield Problem(container.at["Command"].items[int(name)], finding)
        elif kind == "ulimits":
            limits = container.at["Ulimits"].items
            yield from (Problem(each["SoftLimit"], finding) for each in limits if each["Name"].text == name)
        else:
            at = container.environment[str(name)]
            yield Problem(at, replace(finding, problem=f"{name}: {finding.problem}"))


@rule(JOB_ENVIRONMENT, job_containers)
def variables_are_given_once(container: JobContainer) -> Iterator[Wrong]:
    """Find variables that are given twice."""
    values: dict[str, Property] = {}
    for pair in container.at["Environment"].items:
        name, value = pair["Name"].text, pair["Value"]
        if name is None:
            continue
        first = values.setdefault(name, value)
        if first.text is not None and value.text is not None and first.text != value.text:
            yield value, f"{name} is given twice, as {quote(first.text)} and {quote(value.text)}", "one value"


@rule(JOB_ENVIRONMENT, job_containers)
def caches_in_buckets_have_their_scheme(container: JobContainer) -> Iterator[Wrong]:
    """Find compile caches that name a bucket of the template without s3://."""
    cache = container.environment.get(XLA_CACHE_VARIABLE)
    in_bucket = cache is not None and any(target.type == BUCKET for target in cache.targets)
    if cache is not None and in_bucket and cache.pattern.startswith("${"):
        yield cache, f"got {cache.pattern}, a folder of the container without s3://", "s3:// and the bucket"


@rule(JOB_ENVIRONMENT, JOB_DEFINITION)
def nodes_of_a_job_agree(job: Resource) -> Iterator[Wrong]:
    """Find images and variables on which all ranks of a job must agree, and that differ between its node ranges."""
    containers = [part["Container"] for part in job["NodeProperties"]["NodeRangeProperties"].items]
    images = [container["Image"] for container in containers]
    for image in images[1:]:
        same = image.pattern.rpartition(":")[0] == images[0].pattern.rpartition(":")[0]
        if same and image.pattern != images[0].pattern:
            got = f"got {image.pattern}, and other nodes of the job have {images[0].pattern}"
            yield image, got, images[0].pattern
    environments = [JobContainer(container, None, ()).environment for container in containers]
    values = {name: value for each in reversed(environments) for name, value in each.items()}
    for container, environment in zip(containers, environments, strict=True):
        for name in sorted((_SHARED | _OF_MAIN) & environment.keys()):
            value, other = environment[name], values[name]
            if value.text and other.text and value.text != other.text:
                got = f"{name}: got {quote(value.text)}, and other nodes of the job have {quote(other.text)}"
                yield value, got, other.text
        at, lacking = container["Environment"], sorted(_SHARED & values.keys() - environment.keys())
        if lacking and isinstance(at.value, list) and all(pair["Name"].text for pair in at.items):
            yield at, f"no {', '.join(lacking)}, which other nodes of the job have", "the same"
