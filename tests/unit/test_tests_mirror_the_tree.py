"""Each product module with behaviour has its test file, and each test file its module."""

import ast
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "constructs/ultracluster",
    "constructs/ultracluster_catalog",
    "constructs/ultracluster_checks",
    "constructs/ultracluster_runtime",
    "constructs/ultracluster_spec",
    "stacks/ultracluster_stacks",
    "cli/ultracluster_cli",
    "localaws/ultracluster_local",
)

# What decides: a module none of whose functions contains any of these is data, a model or wiring in a straight line, and
# is tested through what uses it.
DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.While,
    ast.Try,
    ast.With,
    ast.Match,
    ast.Raise,
    ast.BoolOp,
    ast.Compare,
    ast.comprehension,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Test files whose subject is more than a module.
OTHER_SUBJECTS = {
    "tests/unit/checks/test_own_configurations.py": "every rule, in the configurations of tests/golden",
    "tests/unit/checks/test_edits.py": "every rule, by the edits of edits.yaml",
    "tests/unit/checks/test_field_cases.py": "every rule, with every case of the field",
    "tests/unit/checks/test_rule_examples.py": "the examples of tests/rule_examples",
    "tests/unit/checks/test_sample_of_seeds.py": "a sample of the mistakes that others wrote, for every rule",
    "tests/unit/checks/test_unknown_values.py": "every rule, in templates of which something is not known",
    "tests/unit/checks/test_used_together.py": "rules about pairs of resources, of several modules",
    "tests/unit/checks/test_whole_cluster.py": "rules about resources that work together, in the stacks of the quick start",
    "tests/unit/cli/test_start_up.py": "what the whole command line imports",
    "tests/unit/cli/test_untrusted_files.py": "every reader of files of users",
    "localaws/tests/cloudformation/test_comparison.py": "what every type is compared by",
    "localaws/tests/constructs/test_apps.py": "the constructs of aws-cdk-lib, each option once",
    "localaws/tests/test_independence.py": "what the tests of the local AWS import",
    "localaws/tests/judges/test_moto_verified.py": "the local AWS, with moto's tests that AWS passed",
    "localaws/tests/judges/test_snapshots.py": "the local AWS, with templates that AWS deployed",
    "localaws/tests/field/test_field.py": "the whole local AWS, with what AWS was seen to do",
    "localaws/tests/cloudformation/test_every_type.py": "every resource type, in one deployment",
    "localaws/tests/cloudformation/test_updates.py": "every resource type, in one update",
    "localaws/tests/cloudformation/test_written_by_the_cdk.py": "templates that the constructs of aws-cdk-lib write",
    "localaws/tests/services/ec2/test_every_member.py": "every member of a launch template's data",
    "tests/unit/spec/test_one_statement.py": "rules about jobs, in a rollout file, a construct and a template",
    "tests/unit/runtime/functions/test_function_faults.py": "every Lambda function, with every fault of AWS",
    "tests/unit/runtime/purchasing/test_http_faults.py": "the requests of a whole purchase, with faults of HTTP",
    "tests/unit/runtime/purchasing/test_protocol.py": "the whole purchase, with every fault",
    "tests/unit/runtime/lifecycle/test_scenarios.py": "lives of a block, whose nodes AWS Batch or an Auto Scaling group starts",
    "tests/unit/stacks/stacks/test_auto_scaling_road.py": "the quick start with nodes of an Auto Scaling group",
    "tests/unit/ultracluster/test_conventions.py": "every construct, with what users of aws-cdk-lib expect",
    "tests/unit/ultracluster/test_hostile_calls.py": "every construct, with arguments that cannot be",
    "tests/unit/ultracluster/test_numbers.py": "every construct, with numbers that jsii cannot carry",
    "tests/unit/ultracluster/test_public_values.py": "every construct, with what it answers",
    "tests/unit/ultracluster/test_resource_properties.py": "every construct, with the effect of each argument",
    "tests/unit/ultracluster/test_rule_examples.py": "the examples of tests/rule_examples",
    "tests/unit/ultracluster/test_user_settings.py": "every construct, with what users set on its resources",
    "tests/unit/stacks/test_nothing_buys.py": "the templates of every rollout of this repository",
}
# Modules whose tests need more than the unit tests have.
TESTED_ELSEWHERE = {
    "constructs/ultracluster/compliance/nag.py": "tests/security/test_nag.py",  # judges whole clusters
    "constructs/ultracluster/scripts/smoke_train.py": "tests/training/test_smoke_train.py",  # needs torch
    "constructs/ultracluster_spec/rollout.py": "tests/unit/bad_inputs/test_rows.py",  # rows of rules.yaml
    "stacks/ultracluster_stacks/config/loading/suppressions.py": "tests/unit/bad_inputs/test_rows.py",
    # Networks and file systems of every kind, in the templates of storage.yaml and existing.yaml.
    "stacks/ultracluster_stacks/stacks/network_stack.py": "tests/golden/test_golden.py",
    "stacks/ultracluster_stacks/stacks/storage_stack.py": "tests/golden/test_golden.py",
    # What users do with the local AWS and jobs, in one story each.
    "cli/ultracluster_cli/local/clock.py": "tests/unit/cli/local/test_command.py",
    "cli/ultracluster_cli/local/demo_job.py": "tests/integration/test_demo.py",
    "cli/ultracluster_cli/plan/former_clusters.py": "tests/integration/test_plan_on_local_aws.py",
    "cli/ultracluster_cli/project/shipped.py": "tests/unit/cli/test_docs.py",  # what the wheel has of the documentation
    "cli/ultracluster_cli/run/command.py": "tests/integration/test_run_command.py",
    "localaws/ultracluster_local/events/moves.py": "tests/unit/cli/local/test_command.py",
    # Compared with the catalogue and the rules, of which the local AWS and its tests know nothing.
    "localaws/ultracluster_local/services/ec2/capacity_block_terms.py": "tests/unit/catalog/capacity/test_capacity_blocks_on_local_aws.py",
    "localaws/ultracluster_local/services/batch/overrides.py": "localaws/tests/jobs/test_runner.py",
    "localaws/ultracluster_local/services/ec2/errors.py": "localaws/tests/services/ec2/test_launches.py",
    "localaws/ultracluster_local/services/replacing.py": "localaws/tests/server/test_install.py",
    "localaws/ultracluster_local/services/fsx/validation.py": "localaws/tests/services/fsx/test_file_systems.py",
}
# Folders whose modules are tested together: each rule for templates, each rule about a rollout file by rows of rules.yaml, each resource type with those that it refers to, in one deployment, and what runs
# jobs, as processes.
TESTED_TOGETHER = {
    "constructs/ultracluster_checks": "tests/unit/checks/test_edits.py",
    "constructs/ultracluster_spec/cluster_rules": "tests/unit/bad_inputs/test_rows.py",
    "localaws/ultracluster_local/jobs": "localaws/tests/jobs/test_runner.py",
    "localaws/ultracluster_local/cloudformation/resource_types": "localaws/tests/cloudformation/test_every_type.py",
}
# The tests of what nodes run import nothing of the CDK, unlike the others of the constructs.
FOLDERS = {"tests/unit/ultracluster/scripts": "tests/unit/scripts"}


def modules() -> Iterator[tuple[Path, str]]:
    """Each module and script with its test file. A package is tested in the file of its name, in its folder."""
    for package in PACKAGES:
        layer = Path(package).name.removeprefix("ultracluster_")
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix not in {".py", ".sh"}:
                continue
            tests = Path("localaws/tests") if layer == "local" else Path("tests/unit", layer)
            place = tests / path.relative_to(ROOT / package)
            name = place.parent.name if path.name.startswith("__") else place.stem
            folder = FOLDERS.get(str(place.parent), str(place.parent))
            yield path, f"{folder}/test_{name.replace('-', '_')}.py"


def whole_test(file: str, tests: Container[str]) -> str | None:
    """The test file that this one is or is a part of: test_MODULE_PART.py is a part of test_MODULE.py."""
    stem = file.removesuffix(".py")
    while not stem.endswith("/test"):
        if f"{stem}.py" in tests:
            return f"{stem}.py"
        stem = stem.rpartition("_")[0]
    return None


def files_of_tests(named: Iterable[str]) -> set[str]:
    folders = {"/".join(Path(file).parts[: 2 if file.startswith("localaws/") else 3]) for file in named}
    return {str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("test_*.py")}


def has_behaviour(source: str) -> bool:
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS))
    return any(isinstance(node, DECISIONS) for function in functions for node in ast.walk(function))


def test_each_module_with_behaviour_has_a_test_file() -> None:
    named = {test for _, test in modules()}
    tested = {whole_test(file, named) for file in files_of_tests(named)}

    assert {
        f"{path.relative_to(ROOT)}: {test}"
        for path, test in modules()
        if path.suffix == ".py"
        and not path.name.startswith("__")
        and str(path.relative_to(ROOT)) not in TESTED_ELSEWHERE
        and str(path.parent.relative_to(ROOT)) not in TESTED_TOGETHER
        and test not in tested
        and has_behaviour(path.read_text(encoding="utf-8"))
    } == set()


def test_each_test_file_is_named_for_a_module_or_documents_its_subject() -> None:
    named = {test for _, test in modules()}

    assert {file for file in files_of_tests(named) if whole_test(file, named) is None} == set(OTHER_SUBJECTS)


def test_modules_that_are_tested_elsewhere_have_their_tests_there() -> None:
    assert {
        place
        for pair in (TESTED_ELSEWHERE | TESTED_TOGETHER).items()
        for place in pair
        if not (ROOT / place).exists()
    } == set()
