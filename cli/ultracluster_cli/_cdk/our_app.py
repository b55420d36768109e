"""Synthesize with our CDK app, or take the assembly from its cache, without the CDK CLI, whose start takes a second."""

import ast
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ultracluster_spec.untrusted_files import read_untrusted_json
from ultracluster_stacks.synthesis.assembly.cache import CACHE_DIRECTORY, AssemblyCache, take_from_cache
from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint
from ultracluster_stacks.synthesis.assembly.parts import VALIDATION_REPORT
from ultracluster_stacks.synthesis.context import clusters_of

# What else cdk.json may say changes what the CDK CLI passes to the app.
_KEYS = {"app", "context", "versionReporting", "watch"}
# The CDK CLI reads an option from each variable that begins with CDK_; these change no assembly of our app, or are in its
# fingerprint. The local AWS sets the account and the Region, as the CDK CLI does by itself.
_VARIABLES = {
    "CDK_DEFAULT_ACCOUNT",
    "CDK_DEFAULT_REGION",
    "CDK_DISABLE_CLI_TELEMETRY",
    "CDK_DOCKER",
    "CDK_HOME",
    "CDK_VALIDATION",
}
_APP = ["import sys", "from ultracluster_stacks.synthesis.app import main", "sys.exit(main())"]


def synthesize_our_app(
    project: Path,
    output: Path,
    *,
    context: Mapping[str, str],
    environment: Mapping[str, str],
    run: Callable[[Mapping[str, str]], int],
) -> bool:
    """Write what `cdk synth` would write, if the app of the project is ours.

    Args:
        project: Folder of cdk.json.
        output: Folder of the assembly.
        context: Values of ``--context``.
        environment: Variables for the app.
        run: Starts the app with variables, and returns its exit code; not called if the cache has every cluster.

    Returns:
        Whether the assembly was written. If it was not, only `cdk synth` can tell what it would be, or what is wrong.
    """
    passed = _passed_by_the_cdk_cli(project, environment)
    if passed is None:
        return False
    passed |= context
    if context.get("cache") != "false":
        cache = AssemblyCache(
            project / CACHE_DIRECTORY, fingerprint=synthesis_fingerprint(passed, environment)
        )
        if take_from_cache(output, clusters_of(passed), cache=cache):
            return True
    passed["validation"] = "native"
    variables = {"CDK_OUTDIR": str(output), "CDK_CONTEXT_JSON": json.dumps(passed)}
    return run({**environment, **variables}) == 0 and _passes_validation(output)


def _passes_validation(output: Path) -> bool:
    """Return whether CDK CLI 2.1148.1 would accept the report of the CDK's validation, which it shows otherwise."""
    report = output / VALIDATION_REPORT
    reports = read_untrusted_json(report)["pluginReports"] if report.exists() else ()
    return all(each["conclusion"] == "success" for each in reports)


def _passed_by_the_cdk_cli(project: Path, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the context of CDK CLI 2.1148.1 for our app; None if the app or settings of the user are others."""
    try:
        settings = read_untrusted_json(project / "cdk.json")
        looked_up = project / "cdk.context.json"
        kept = read_untrusted_json(looked_up) if looked_up.exists() else {}
        app = ast.parse((project / "app.py").read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None
    of_the_user = Path(environment.get("HOME", "~")).expanduser() / ".cdk.json"
    options = {name for name in environment if name.startswith("CDK_")} - _VARIABLES
    if not isinstance(settings, dict) or settings.keys() - _KEYS or of_the_user.exists() or options:
        return None
    context = settings.get("context", {})
    if not isinstance(context, dict) or not isinstance(kept, dict):
        return None
    statements = app.body[1:] if ast.get_docstring(app) else app.body
    if settings.get("app") != "python3 app.py" or [*map(ast.unparse, statements)] != _APP:
        return None
    reporting = (
        {"aws:cdk:version-reporting": True}
        if settings.get("versionReporting", True)
        else {"aws:cdk:disable-version-reporting": True}
    )
    return {
        **context,
        **kept,
        "aws:cdk:enable-path-metadata": True,
        "aws:cdk:enable-asset-metadata": True,
        **reporting,
        "aws:cdk:bundling-stacks": ["**"],
        "@aws-cdk/core:failSynthOnValidationErrors": False,
    }
