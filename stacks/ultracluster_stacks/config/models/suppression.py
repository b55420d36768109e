"""`suppress` of a cluster: warnings to hide, each with the reason."""

from typing import Annotated

from pydantic import AfterValidator

from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.findings import Finding
from ultracluster_rules.registry import RULES
from ultracluster_stacks.config.models.constraints import refusal
from ultracluster_stacks.config.reading.problem import shown


def _check_code(code: str) -> str:
    if code not in RULES:
        raise refusal(
            Finding(
                "UC2240",
                f"got {shown(code)}, which is not a rule",
                allowed="the code of a warning, such as UC4103",
                remedy=suggestion(code, [known for known, rule in RULES.items() if rule.suppressible]),
            )
        )
    if not RULES[code].suppressible:
        raise refusal(
            Finding(
                "UC2241",
                f"{code} is {_article(RULES[code].severity)} that cannot be suppressed",
                allowed="warnings that `ultracluster rules CODE` shows as suppressible",
                remedy=f"Remove it; `ultracluster rules {code}` shows the remedy",
            )
        )
    return code


def _article(severity: str) -> str:
    return f"an {severity}" if severity == "error" else f"a {severity}"


def _check_reason(reason: str) -> str:
    if not reason.strip():
        raise refusal(
            Finding(
                "UC2242",
                "the reason is empty",
                allowed="a short reason why this warning does not matter here",
            )
        )
    return reason


Suppress = dict[Annotated[str, AfterValidator(_check_code)], Annotated[str, AfterValidator(_check_reason)]]
"""The reason for each suppressed code."""
