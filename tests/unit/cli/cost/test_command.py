"""`ultracluster cost` estimates a rollout unless another of its commands is named."""

from tests.unit.cli.cost.cost_answers import QUICKSTART, Run


def test_a_rollout_without_a_command_is_estimated(run: Run) -> None:
    named, short = run("cost", "estimate", QUICKSTART, "--json"), run("cost", QUICKSTART, "--json")

    assert (named.code, short.code) == (0, 0)
    assert named.stdout == short.stdout


def test_the_help_lists_the_commands(run: Run) -> None:
    shown = run("cost", "--help").stdout

    assert all(f" {command} " in shown for command in ("estimate", "actual", "bake-off"))
