"""`ultracluster cost`: estimated and actual costs of clusters, and what could cost less."""

from typing import Any

from ultracluster_cli._cdk.workspace import project_folder
from ultracluster_cli.cost.actual import actual
from ultracluster_cli.cost.advise import advise
from ultracluster_cli.cost.bake_off import bake_off
from ultracluster_cli.cost.estimate import estimate
from ultracluster_cli.cost.report import report
from ultracluster_cli.options import CommandGroup, command_group, with_option_groups


class _EstimateUnlessNamed(CommandGroup):
    """Run `ultracluster cost ROLLOUT` as `ultracluster cost estimate ROLLOUT`, and in a project also `cost` alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        in_project = (project_folder() / "cdk.json").is_file()
        return super().parse_args(ctx, args or (["estimate"] if in_project else []))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["estimate", *args])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of `cost ROLLOUT` too, which are those of `cost estimate`."""
        super().format_options(ctx, formatter)
        with formatter.section("Arguments and options of cost ROLLOUT, short for cost estimate ROLLOUT"):
            records = [parameter.get_help_record(ctx) for parameter in self.commands["estimate"].params]
            formatter.write_dl([record for record in records if record])


app = command_group(
    "Estimate costs, show actual ones, report what a block gave, or find savings.",
    cls=_EstimateUnlessNamed,
    context_settings={"ignore_unknown_options": True},
)

app.command()(with_option_groups(estimate))
app.command()(actual)
app.command()(advise)
app.command()(report)
app.command("bake-off")(bake_off)
