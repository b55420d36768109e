"""cfn-lint with its rules read once for each process: that takes as long as judging a template does."""

import functools
from collections.abc import Sequence
from typing import Any

from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.match import Match
from cfnlint.runner import Runner, run_template_by_data

__all__ = ["lint"]


def lint(text: str, *, regions: Sequence[str]) -> list[Match]:
    """What cfn-lint has against a template in Regions, by its usual rules."""
    template, unreadable = decode_str(text)
    config = ConfigMixIn(regions=list(regions))
    return unreadable or list(run_template_by_data(template, config, _rules()))


@functools.cache
def _rules() -> Any:
    return Runner(ConfigMixIn()).rules
