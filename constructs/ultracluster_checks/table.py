"""Every rule for templates, with the codes that it may report."""

from dataclasses import dataclass
from typing import Final

from ultracluster_checks import (
    containers,
    credentials,
    environments,
    file_systems,
    interfaces,
    jobs,
    launches,
    policies,
    security_groups,
    state,
    subnets,
)
from ultracluster_checks.problem import Find

__all__ = ["CHECKS", "CODES", "NEVER_LEFT_OUT", "Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule.

    Attributes:
        find: Finds what breaks it.
        codes: Codes that it reports.
    """

    find: Find
    codes: tuple[str, ...]


_LUSTRE: Final = (
    "UC5001",
    "UC5002",
    "UC5003",
    "UC5004",
    "UC5005",
    "UC5006",
    "UC5010",
    "UC5011",
    "UC5012",
    "UC5013",
)

CHECKS: Final = (
    # Network
    Check(security_groups.efa_flows_both_ways, ("UC3201",)),
    Check(security_groups.nobody_lets_everybody_in, ("UC3206",)),
    Check(
        interfaces.interfaces_are_legal,
        ("UC4010", "UC4011", "UC4012", "UC4013", "UC4014", "UC4015", "UC4016", "UC4017"),
    ),
    Check(interfaces.interface_types_exist, ("UC3207",)),
    Check(interfaces.no_public_addresses, ("UC3202",)),
    Check(interfaces.interfaces_go_with_their_node, ("UC3203",)),
    Check(interfaces.groups_are_at_the_interfaces, ("UC3205",)),
    Check(subnets.zones_belong_to_their_region, ("UC3102",)),
    Check(subnets.types_are_offered_in_their_zone, ("UC4106",)),
    Check(subnets.subnets_fit_their_vpc, ("UC3105",)),
    Check(subnets.efa_nodes_are_in_one_subnet, ("UC3204",)),
    Check(subnets.nodes_have_addresses, ("UC3002",)),
    # Compute and capacity
    Check(launches.instance_types_are_known, ("UC4001",)),
    Check(launches.market_and_target_go_together, ("UC4201", "UC4202", "UC4203", "UC4204")),
    Check(launches.blocks_have_no_placement_group, ("UC4020",)),
    Check(launches.blocks_have_one_type, ("UC4205",)),
    Check(launches.types_are_sold_as_blocks, ("UC4104",)),
    Check(launches.reservations_are_named_by_id, ("UC4109",)),
    Check(launches.images_are_pinned, ("UC4110", "UC4206")),
    Check(launches.metadata_needs_a_token, ("UC4207",)),
    Check(launches.user_data_can_be_merged, ("UC4208", "UC4209")),
    Check(launches.nothing_is_reserved, ("UC4210",)),
    Check(environments.environments_hold_whole_nodes, ("UC4211", "UC4212", "UC4213", "UC4214")),
    Check(environments.types_match_their_launch_template, ("UC4215",)),
    Check(environments.launch_template_versions_are_pinned, ("UC4216",)),
    Check(environments.environments_can_be_updated, ("UC4217", "UC4218")),
    Check(environments.updates_spare_jobs, ("UC4219",)),
    Check(environments.queues_have_few_environments, ("UC4120",)),
    # Storage
    Check(file_systems.file_systems_can_be_made, (*_LUSTRE, "UC5014", "UC5015")),
    Check(file_systems.newest_type_has_no_import_path, ("UC5202",)),
    Check(file_systems.efa_clients_can_mount, ("UC5027",)),
    Check(
        file_systems.associations_can_be_made,
        ("UC5014", "UC5020", "UC5021", "UC5022", "UC5023", "UC5024", "UC5025", "UC5026"),
    ),
    Check(file_systems.file_systems_are_near_their_clients, ("UC5211",)),
    Check(file_systems.lustre_ports_are_open, ("UC5203",)),
    Check(state.data_is_retained, ("UC5201",)),
    Check(state.disks_are_encrypted, ("UC5204",)),
    Check(state.buckets_ask_for_tls, ("UC5205",)),
    Check(state.buckets_are_private, ("UC5206", "UC5207")),
    Check(state.deletions_stay_on_lustre, ("UC5208",)),
    Check(state.checkpoints_keep_versions, ("UC5209", "UC5210")),
    Check(state.tables_have_a_way_back, ("UC5212",)),
    Check(state.keys_change, ("UC5213",)),
    # Jobs
    Check(environments.waiting_jobs_are_not_cancelled, ("UC6307",)),
    Check(jobs.jobs_have_enough_nodes, ("UC6101",)),
    Check(jobs.attempts_and_timeouts_are_in_bounds, ("UC6104",)),
    Check(jobs.images_stay_the_same, ("UC6107", "UC6108")),
    Check(jobs.one_address_of_the_compile_cache, ("UC6010",)),
    Check(jobs.multi_node_jobs_are_not_on_spot, ("UC6308",)),
    Check(jobs.node_ranges_cover_every_node, ("UC6404",)),
    Check(jobs.containers_fit_their_node, ("UC6407",)),
    Check(containers.efa_devices_are_named, ("UC6401",)),
    Check(containers.every_device_is_given, ("UC6402", "UC6403")),
    Check(containers.memory_can_be_shared, ("UC6405",)),
    Check(containers.memory_can_be_locked, ("UC6406",)),
    Check(containers.fabric_is_efa, ("UC6408",)),
    Check(containers.containers_are_not_privileged, ("UC6410",)),
    # Rights and secrets
    Check(credentials.no_credentials, ("UC6409",)),
    Check(policies.actions_are_named, ("UC6420",)),
    Check(policies.principals_are_named, ("UC6421",)),
    Check(policies.nobody_is_administrator, ("UC6422",)),
    Check(policies.roles_are_passed_by_name, ("UC6423",)),
    Check(policies.functions_know_their_callers, ("UC6424",)),
    Check(policies.nobody_buys_without_an_order, ("UC6425",)),
)
"""The rules, in the order of their subjects."""

CODES: Final = frozenset(code for check in CHECKS for code in check.codes)
"""Every code that a template can break."""

NEVER_LEFT_OUT: Final = frozenset({"UC4020", "UC4201", "UC4202", "UC4204", "UC6409", "UC6421", "UC6425"})
"""Codes that nobody may leave out: nodes that cost without working, purchases, open doors and credentials."""
