"""The records of the rules of values."""

from typing import Final

from ultracluster_spec import (
    alarms,
    bounds,
    buckets,
    capacity,
    cluster,
    commands,
    construct_records,
    container,
    credentials,
    file_system,
    images,
    instance_type,
    job,
    job_definitions,
    lustre,
    names,
    network,
    neuron,
    nodes,
    numbers,
    queue,
    times,
)
from ultracluster_spec.record import by_code

RECORDS: Final = by_code(
    alarms.RECORDS,
    bounds.RECORDS,
    buckets.RECORDS,
    capacity.RECORDS,
    cluster.RECORDS,
    commands.RECORDS,
    construct_records.RECORDS,
    container.RECORDS,
    credentials.RECORDS,
    file_system.RECORDS,
    images.RECORDS,
    instance_type.RECORDS,
    job.RECORDS,
    job_definitions.RECORDS,
    lustre.RECORDS,
    names.RECORDS,
    network.RECORDS,
    neuron.RECORDS,
    nodes.RECORDS,
    numbers.RECORDS,
    queue.RECORDS,
    times.RECORDS,
)
"""Every record of a rule about values and constructs, by its code."""
