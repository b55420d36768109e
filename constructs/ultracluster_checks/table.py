"""Table of all template checks."""

from functools import cache
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
    resource_policies,
    security_groups,
    state,
    subnets,
)
from ultracluster_checks.joined import fit, landing, life, powers, reach, sizes
from ultracluster_checks.problem import Find
from ultracluster_rules.registry import RULES

CHECKS: Final[tuple[Find, ...]] = (
    # Network
    security_groups.efa_flows_both_ways,
    security_groups.ingress_is_not_open,
    interfaces.interfaces_are_legal,
    interfaces.interface_types_exist,
    interfaces.no_public_addresses,
    interfaces.interfaces_go_with_their_node,
    interfaces.groups_are_at_the_interfaces,
    subnets.zones_belong_to_their_region,
    subnets.types_are_offered_in_their_zone,
    subnets.subnets_fit_their_vpc,
    subnets.efa_nodes_are_in_one_subnet,
    subnets.nodes_have_addresses,
    # Compute and capacity
    launches.instance_types_are_known,
    launches.market_and_target_go_together,
    launches.blocks_have_no_placement_group,
    launches.blocks_have_one_type,
    launches.types_are_sold_as_blocks,
    launches.reservations_are_named_by_id,
    launches.images_are_pinned,
    launches.metadata_needs_a_token,
    launches.user_data_can_be_merged,
    launches.nothing_is_reserved,
    environments.environments_hold_whole_nodes,
    environments.types_match_their_launch_template,
    environments.launch_template_versions_are_pinned,
    environments.environments_can_be_updated,
    environments.updates_spare_jobs,
    environments.queues_have_few_environments,
    environments.nodes_can_join,
    # Storage
    file_systems.file_systems_can_be_made,
    file_systems.newest_type_has_no_import_path,
    file_systems.efa_clients_can_mount,
    file_systems.associations_can_be_made,
    file_systems.file_systems_are_near_their_clients,
    state.data_is_retained,
    state.disks_are_encrypted,
    state.buckets_ask_for_tls,
    state.buckets_are_private,
    state.deletions_stay_on_lustre,
    state.checkpoints_keep_versions,
    state.tables_have_a_way_back,
    state.keys_change,
    # Jobs
    environments.waiting_jobs_are_not_cancelled,
    jobs.jobs_have_enough_nodes,
    jobs.attempts_and_timeouts_are_in_bounds,
    jobs.images_stay_the_same,
    jobs.one_address_of_the_compile_cache,
    jobs.multi_node_jobs_are_not_on_spot,
    jobs.fair_shares_have_priorities,
    jobs.node_ranges_cover_every_node,
    jobs.containers_fit_their_node,
    jobs.containers_request_vcpus_and_memory,
    containers.efa_devices_are_named,
    containers.every_device_is_given,
    containers.memory_can_be_shared,
    containers.memory_can_be_locked,
    containers.fabric_is_efa,
    containers.containers_are_not_privileged,
    # Permissions and secrets
    credentials.no_credentials,
    policies.actions_are_named,
    policies.principals_are_named,
    policies.roles_are_not_administrators,
    policies.roles_are_passed_by_name,
    policies.functions_know_their_callers,
    policies.purchases_need_an_order,
    resource_policies.topics_let_services_publish,
    resource_policies.publishers_may_use_the_key,
    resource_policies.keys_let_logs_encrypt,
    # Nodes in their reservation
    landing.blocks_have_no_mixed_instances,
    landing.efa_nodes_are_close_together,
    landing.environments_are_in_a_queue,
    landing.environments_choose_nodes_for_their_market,
    landing.known_blocks_are_launched_as_blocks,
    landing.neuron_nodes_have_drivers,
    landing.nodes_fit_the_reservation_of_their_template,
    landing.targets_are_one_reservation,
    landing.versions_are_of_the_same_template,
    # Nodes, ranks, file systems and endpoints
    reach.efa_interfaces_have_one_group,
    reach.endpoints_have_names,
    reach.groups_are_in_the_vpc_of_their_subnet,
    reach.interfaces_are_in_the_subnet_of_their_nodes,
    reach.nodes_reach_the_endpoints,
    reach.nodes_reach_the_services_that_they_join,
    reach.nodes_reach_their_file_system,
    # Jobs on the nodes of their queues
    fit.container_variables_have_names,
    fit.devices_are_in_place,
    fit.efa_devices_are_at_the_nodes,
    fit.environment_fits_the_chips,
    fit.mounts_are_of_a_volume,
    fit.node_ranges_can_be_read,
    fit.queues_have_environments_of_one_kind,
    fit.roles_of_jobs_may_do_what_they_need,
    fit.types_of_jobs_are_started,
    # The end of a Capacity Block
    life.block_events_reach_something,
    life.alarms_notify,
    life.block_jobs_are_ended,
    life.closed_queues_are_opened,
    life.functions_can_run,
    life.functions_may_be_invoked,
    life.life_cycles_are_aimed_at_their_block,
    life.life_cycles_have_time,
    life.life_cycles_may_end_jobs,
    life.life_cycles_wake_up,
    # What roles could do
    powers.roles_read_named_data,
    powers.functions_may_use_what_they_are_told,
    powers.services_invoke_for_a_resource,
    powers.roles_assume_named_roles,
    powers.roles_reserve_no_capacity,
    powers.roles_write_no_policies,
    powers.policies_exclude_other_accounts,
    powers.roles_are_for_their_service,
    # Sizes
    sizes.definitions_are_small_enough,
    sizes.environments_of_functions_fit,
    sizes.policies_of_roles_fit,
)
"""The checks, in the order of their subjects."""


@cache
def template_codes() -> frozenset[str]:
    """Return every code that a template can break."""
    return frozenset(code for code, rule in RULES.items() if rule.in_templates)
