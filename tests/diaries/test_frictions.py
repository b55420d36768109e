"""Each friction that four people met is held by a test: what they saw then fails it, what they see now passes."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIARIES = "tests/diaries/test_diaries.py"
# The numbers of the diaries; the pictures had none, and are the last row. A test is named by its file and its function.
FRICTIONS = {
    1: (
        "deploy applied what plan stops",
        f"{DIARIES}::test_deploy_stops_where_plan_stops",
        "tests/unit/cli/deploy/test_command_edits.py::test_an_edit_of_a_template_is_stopped_only_if_it_is_dangerous",
        "tests/unit/cli/deploy/test_command_edits.py::test_an_edit_of_a_rollout_is_stopped_only_if_it_is_dangerous",
        "tests/unit/stacks/stacks/test_cluster_stage.py::test_cdk_deploy_by_hand_is_told_that_nothing_stops_dangerous_changes",
    ),
    2: (
        "the local AWS deleted a subnet under the file system that was kept",
        "localaws/tests/services/ec2/test_deletions.py::test_a_subnet_stays_while_something_is_in_it",
        f"{DIARIES}::test_destroy_names_what_is_kept_and_succeeds",
    ),
    3: (
        "an impossible search found nothing and succeeded",
        f"{DIARIES}::test_an_impossible_search_is_not_answered_with_an_empty_list",
        f"{DIARIES}::test_a_search_without_credentials_is_not_an_empty_list",
        "tests/unit/cli/capacity/test_find.py::test_find_does_not_call_it_success_when_no_region_answers",
    ),
    4: (
        "tags of the CDK missed what the bill is about",
        "tests/unit/ultracluster/nodes/test_node_group.py::test_tags_of_the_app_reach_what_nodes_consist_of_but_not_the_name_of_the_cluster",
        "tests/unit/ultracluster/nodes/test_node_group.py::test_tags_reach_instances_volumes_and_interfaces",
    ),
    5: (
        "a key of the app stopped every node without a word",
        "tests/unit/ultracluster/compliance/test_cluster_key.py::test_a_key_of_the_app_lets_the_services_use_it_as_a_cluster_key_does",
        "tests/unit/ultracluster/compliance/test_cluster_key.py::test_an_imported_key_is_warned_of_because_no_node_starts_without_its_policy",
    ),
    6: (
        "jobs had neither secrets nor permissions, and the network no endpoints for them",
        "tests/unit/stacks/wiring/test_job_definitions.py::test_secrets_and_permissions_of_a_job_reach_its_roles_and_its_definition",
        "tests/unit/ultracluster/cluster/test_ultra_cluster.py::test_further_endpoints_are_those_of_the_new_network",
    ),
    7: (
        "capacity verify called a block idle before it started",
        "tests/unit/cli/capacity/test_verify.py::test_a_reservation_that_has_not_started_is_no_failure",
    ),
    8: (
        "there was nothing to train, and nothing could be rehearsed",
        "tests/integration/test_demo.py::test_the_demo_buys_one_block_deploys_and_trains_on_it_into_its_extension",
        "tests/integration/test_run_command.py::test_a_run_starts_with_its_block_is_checkpointed_and_drained_and_resumes_in_the_extension",
        "tests/unit/cli/local/test_command.py::test_a_life_from_up_to_down",
        "tests/unit/cli/local/test_command.py::test_jobs_run_only_on_request_and_images_are_checked",
    ),
    9: (
        "a project of init could not be installed",
        "tests/unit/cli/project/test_project_files.py::test_a_project_requires_ultracluster_from_where_it_was_installed",
        "tests/unit/cli/_cdk/test_toolchain.py::test_reports_all_missing_tools_at_once",
    ),
    10: (
        "tables could be neither read nor copied",
        f"{DIARIES}::test_a_job_is_listed_on_whole_lines_and_named_by_its_name",
        f"{DIARIES}::test_findings_are_not_broken_inside_words",
        f"{DIARIES}::test_states_have_colours",
        "tests/unit/cli/capacity/test_find.py::test_the_best_offering_is_marked_and_the_next_command_is_printed",
    ),
    11: (
        "most costs were not known",
        "tests/unit/stacks/cost/test_estimate.py::test_no_price_is_unknown_in_any_region",
        "tests/unit/stacks/cost/test_estimate.py::test_no_price_of_a_project_that_init_writes_is_unknown_in_any_region",
        "tests/unit/cli/cost/test_output.py::test_many_clusters_have_a_line_each_and_a_grand_total",
    ),
    12: (
        "there was no destroy, status, nodes or shell",
        f"{DIARIES}::test_an_unknown_command_is_never_answered_with_the_opposite",
        f"{DIARIES}::test_status_is_one_screen",
        f"{DIARIES}::test_nodes_of_a_cluster_are_listed",
        "tests/unit/stacks/stacks/test_cluster_stage.py::test_everything_is_deleted_with_its_stack_only_if_that_is_typed",
    ),
    13: (
        "the ledger could not be deployed on the local AWS",
        "tests/integration/test_capacity_stack.py::test_the_deployed_ledger_works_and_outlives_its_stack",
        "tests/unit/cli/project/test_project_files.py::test_copies_every_example",
    ),
    14: (
        "init checked after the last answer, and lost all of them",
        f"{DIARIES}::test_init_checks_each_answer_and_proposes_the_folder",
        "tests/unit/cli/project/test_init.py::test_answers_survive_an_interruption",
    ),
    15: (
        "it took 93 s from nothing to the demo",
        "tests/layout/test_install.py::test_uv_is_told_what_pip_is_set_up_to_do",
        "tests/unit/benchmarks/test_first_hour.py::test_the_parts_are_those_of_make_and_of_the_demo",
    ),
    16: (
        "no command baked an AMI",
        "tests/unit/cli/ami/test_command.py::test_a_build_is_started_followed_and_pinned",
        "tests/integration/test_ami_command.py::test_a_pipeline_is_created_run_and_its_ami_is_pinned",
    ),
    17: (
        "a second app could neither submit to a queue nor import it",
        "tests/integration/test_two_apps.py::test_a_job_of_one_app_runs_on_the_queue_of_another",
        "tests/unit/ultracluster/scheduling/test_i_training_queue.py::test_grant_read_allows_what_the_jobs_commands_read",
        "tests/unit/ultracluster/scheduling/test_i_training_queue.py::test_metrics_have_the_names_of_aws_batch",
        "tests/unit/ultracluster/cluster/test_i_ultra_cluster.py::test_metrics_of_an_imported_cluster_have_its_name",
    ),
    18: (
        "what CDK people pass ended in raw errors",
        "tests/unit/ultracluster/test_numbers.py::test_rejects_numbers_that_are_known_at_deployment_only",
        "tests/unit/ultracluster/_foundation/test_machines.py::test_a_type_is_found_by_its_name_by_the_class_of_the_cdk_and_by_its_description",
        "tests/unit/ultracluster/cluster/test_ultra_cluster.py::test_takes_a_vpc_of_the_cdk",
        "tests/unit/ultracluster/test_hostile_calls.py::test_hostile_calls_are_refused_with_findings",
    ),
    19: (
        "default_child of a bucket was no bucket",
        "tests/unit/ultracluster/test_user_settings.py::test_the_default_child_of_a_bucket_of_ours_is_the_bucket",
        "tests/unit/ultracluster/test_default_child.py::test_a_default_child_can_be_overridden",
    ),
    20: (
        "a bad reservation ID hid the other findings",
        "tests/unit/ultracluster/cluster/test_ultra_cluster.py::test_findings_about_capacity_and_network_come_with_the_others",
    ),
    21: (
        "nothing helped with a broken node",
        "tests/unit/docs/test_reader_questions.py::test_a_page_of_the_runbook_says_what_to_see_decide_and_run_on_one_screen",
        "tests/unit/cli/operate/test_nodes.py::test_describes_the_health_of_a_node_and_what_to_do_next",
        "tests/unit/cli/operate/test_nodes.py::test_a_node_is_replaced_after_a_checkpoint_of_its_job",
    ),
    22: (
        "an extension had no quote, and a checkpoint ended the job",
        "tests/unit/cli/capacity/test_approve.py::test_an_extension_is_quoted_and_its_end_read_from_ec2",
        "tests/unit/cli/capacity/test_approve.py::test_without_a_terminal_everything_that_is_missing_is_named_at_once",
        f"{DIARIES}::test_a_checkpoint_and_a_shell_say_what_they_need",
    ),
    23: (
        "nobody found why they were billed",
        "tests/unit/docs/test_reader_questions.py::test_a_question_is_answered_within_two_clicks",
    ),
    24: (
        "pictures had no legend and did not scale",
        "tests/unit/docs/test_gallery_pages.py::test_every_picture_can_be_read",
        "tests/unit/docs/test_gallery_pages.py::test_the_picture_of_the_readme_is_that_of_the_quick_start",
        "tests/unit/cli/cost/test_estimate.py::test_draws_the_costs_of_all_clusters",
        "tests/unit/cli/operate/test_status.py::test_draws_the_topology_and_the_block",
    ),
}


@cache
def functions_of(path: str) -> frozenset[str]:
    """Return the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_every_friction_of_the_diaries_is_in_the_table() -> None:
    assert list(FRICTIONS) == list(range(1, 25))


@pytest.mark.parametrize("number", FRICTIONS)
def test_a_friction_is_held_by_tests_that_exist(number: int) -> None:
    _, *tests = FRICTIONS[number]

    assert tests
    assert [
        test for test in tests if test.partition("::")[2] not in functions_of(test.partition("::")[0])
    ] == []


def test_every_diary_is_about_a_friction() -> None:
    named = {test.partition("::")[2] for _, *tests in FRICTIONS.values() for test in tests}

    assert functions_of(DIARIES) - named == {
        "test_a_silent_command_shows_that_it_works"
    }  # asked for, and not seen
