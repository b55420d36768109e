"""Write the templates of apps.toml: `python apps.py FOLDER [EVERY]`, each app or each one of EVERY, as stacks of one CDK app.

A program of its own: the tests of the local AWS do not need the CDK, and import nothing of it.
"""

import importlib
import sys
import tomllib
from pathlib import Path
from typing import Any

_MODULES = {
    **{
        name: name
        for name in "batch budgets ec2 ecr ecs efs events fsx iam kms logs s3 sns sqs ssm".split()  # noqa: SIM905 - shorter so
    },
    "asg": "autoscaling",
    "cw": "cloudwatch",
    "cwa": "cloudwatch_actions",
    "ddb": "dynamodb",
    "lam": "lambda",
    "sch": "scheduler",
    "sm": "secretsmanager",
    "st": "scheduler_targets",
    "subs": "sns_subscriptions",
    "targets": "events_targets",
}


def apps() -> dict[str, tuple[str, str]]:
    """Return the expression of each app and of the options of its construct, by its name."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    found = {name: (made, "") for name, made in table["apps"].items()}
    for name, group in table["groups"].items():
        options = {key.replace("_", "-"): value for key, value in group.items() if key != "construct"}
        for key, value in {"default": "{}", **options}.items():
            found[f"{name}-{key}"] = (group["construct"], value)
    return found


def write(folder: str, *, every: int) -> None:
    """Write the cloud assembly."""
    cdk = importlib.import_module("aws_cdk")
    known: dict[str, Any] = {
        name: importlib.import_module(f"aws_cdk.aws_{module}") for name, module in _MODULES.items()
    }
    known["cdk"] = cdk
    for name, value in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["names"].items():
        known[name] = eval(value, known)  # noqa: S307 - our own table
    settings = {
        "@aws-cdk/aws-autoscaling:generateLaunchTemplateInsteadOfLaunchConfig": True,
        "availability-zones:account=123456789012:region=us-east-1": ["us-east-1a", "us-east-1b"],
    }
    app = cdk.App(outdir=folder, context=settings)
    place = cdk.Environment(account="123456789012", region="us-east-1")
    for name, (made, options) in list(apps().items())[::every]:
        synthesizer = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
        stack = cdk.Stack(app, name, env=place, synthesizer=synthesizer)
        scope = {**known, "s": stack}
        construct = eval(made, scope)  # noqa: S307
        if options:
            construct(stack, **eval(options, scope))  # noqa: S307
    app.synth(validate_on_synthesis=False)


if __name__ == "__main__":
    write(sys.argv[1], every=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
