"""What `make mutation` mutates, and the tests that must notice."""

from dataclasses import dataclass
from typing import Final

__all__ = ["PARTS", "Part"]

_RUNTIME: Final = "constructs/ultracluster_runtime"
_CATALOG: Final = "constructs/ultracluster_catalog"
_RULES: Final = "constructs/ultracluster_rules"
_CONFIG: Final = "stacks/ultracluster_stacks/config"
_CONFIG_TESTS: Final = "tests/unit/stacks/config"


@dataclass(frozen=True)
class Part:
    """One subject.

    Attributes:
        files: The modules that are mutated, as patterns from the root of the repository.
        tests: The tests that are tried on each mutant of a function that they call.
        slow_tests: Those that are tried as well on what survived. Default: none.
        every: Only each mutant of so many is tried, drawn by its name. More than 1 where one mutant takes seconds.
            Default: 1.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    slow_tests: tuple[str, ...] = ()
    every: int = 1


PARTS: Final = {
    "purchase": Part(
        files=tuple(
            f"{_RUNTIME}/purchasing/{name}.py"
            for name in (
                "purchase",
                "quotes",
                "order_checks",
                "orders",
                "ledger",
                "evidence",
                "reconcile",
                "ec2_driver",
                "ec2_answers",
            )
        ),
        tests=(
            "tests/unit/runtime/purchasing/test_purchase.py",
            "tests/unit/runtime/purchasing/test_orders.py",
            "tests/unit/runtime/purchasing/test_order_checks.py",
            "tests/unit/runtime/purchasing/test_offerings.py",
            "tests/unit/runtime/functions/test_window.py",
            "tests/unit/runtime/purchasing/test_ec2_answers.py",
            "tests/unit/runtime/purchasing/test_ec2_driver.py",
            "tests/unit/runtime/purchasing/test_operator_actions.py",
            "tests/unit/runtime/purchasing/test_purchase_effects.py",
            "tests/unit/runtime/purchasing/test_evidence.py",
            "tests/unit/runtime/purchasing/test_ledger_reads.py",
            "tests/unit/runtime/purchasing/test_quotes.py",
            "tests/unit/runtime/purchasing/test_reconcile.py",
        ),
        slow_tests=("tests/unit/runtime/purchasing/test_ledger.py",),
    ),
    "plan": Part(
        files=("stacks/ultracluster_stacks/plan/*.py",),
        tests=tuple(
            f"tests/unit/stacks/plan/test_{name}.py"
            for name in (
                "assets",
                "comparison",
                "expressions",
                "headroom",
                "moves",
                "permissions",
                "properties",
                "stops",
                "templates",
            )
        ),
        slow_tests=("tests/unit/stacks/plan/test_resource_updates.py",),
    ),
    "drain": Part(
        files=(f"{_RUNTIME}/lifecycle/*.py",),
        tests=tuple(
            f"tests/unit/runtime/lifecycle/test_{name}.py"
            for name in ("actions", "machine", "observations", "state")
        ),
        slow_tests=tuple(
            f"tests/unit/runtime/lifecycle/test_{name}.py" for name in ("driver", "handler", "reader")
        ),
    ),
    "checks": Part(
        files=(
            *(
                f"{_CATALOG}/{name}.py"
                for name in (
                    "capacity/capacity_blocks",
                    "lustre/lustre_tiers",
                    "machines/nic_layouts",
                    "neuron/compiler_flags",
                    "neuron/neuron_settings",
                    "places/addresses",
                )
            ),
            *(
                f"{_RULES}/{name}.py"
                for name in (
                    "alarms",
                    "budgets",
                    "capacity",
                    "credentials",
                    "images",
                    "jobs",
                    "lustre",
                    "machines",
                    "network",
                    "numbers",
                    "queues",
                )
            ),
        ),
        tests=("tests/unit/catalog", "tests/unit/rules"),
    ),
    "rules": Part(
        files=(
            f"{_CONFIG}/rules/*.py",
            *(f"{_CONFIG}/reading/{name}.py" for name in ("scalars", "yaml_source")),
        ),
        # Without those that load very many files or start processes: every one of them calls every rule.
        tests=tuple(
            f"{_CONFIG_TESTS}/{name}.py"
            for name in (
                "editing/test_image_references",
                "loading/test_bad_rollouts",
                "loading/test_versions",
                "models/test_alarms",
                "models/test_boundaries",
                "models/test_buckets",
                "models/test_budget",
                "models/test_capacity_and_queues",
                "models/test_file_system",
                "models/test_gates",
                "models/test_job_images",
                "models/test_job_kinds",
                "models/test_machine",
                "models/test_network",
                "reading/test_scalars",
                "reading/test_yaml_source",
                "rules/test_rollout_rules",
            )
        ),
        every=8,
    ),
}
