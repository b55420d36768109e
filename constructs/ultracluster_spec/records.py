"""The records of the rules of values."""

from typing import Final

from ultracluster_rules import alarms as rules_alarms
from ultracluster_rules import buckets as rules_buckets
from ultracluster_rules import (
    budgets,
    commands,
    credentials,
    images,
    job_definitions,
    machines,
    numbers,
    queues,
    values,
)
from ultracluster_rules import capacity as rules_capacity
from ultracluster_rules import names as rules_names
from ultracluster_rules import network as rules_network
from ultracluster_rules.record import by_code
from ultracluster_spec import alarms as spec_alarms
from ultracluster_spec import buckets as spec_buckets
from ultracluster_spec import capacity as spec_capacity
from ultracluster_spec import (
    cluster,
    construct_records,
    container,
    file_system,
    job,
    lustre,
    neuron,
    nodes,
    standing_order,
)
from ultracluster_spec import names as spec_names
from ultracluster_spec import network as spec_network

RECORDS: Final = by_code(
    rules_alarms.RECORDS,
    rules_buckets.RECORDS,
    budgets.RECORDS,
    rules_capacity.RECORDS,
    commands.RECORDS,
    credentials.RECORDS,
    images.RECORDS,
    job_definitions.RECORDS,
    machines.RECORDS,
    rules_names.RECORDS,
    rules_network.RECORDS,
    numbers.RECORDS,
    queues.RECORDS,
    values.RECORDS,
    spec_alarms.RECORDS,
    spec_buckets.RECORDS,
    spec_capacity.RECORDS,
    cluster.RECORDS,
    construct_records.RECORDS,
    container.RECORDS,
    file_system.RECORDS,
    job.RECORDS,
    lustre.RECORDS,
    spec_names.RECORDS,
    spec_network.RECORDS,
    neuron.RECORDS,
    nodes.RECORDS,
    standing_order.RECORDS,
)
"""Every record of a rule about values and constructs, by its code."""
