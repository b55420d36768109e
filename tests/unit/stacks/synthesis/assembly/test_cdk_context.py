"""The context that the CDK CLI gives an app."""

import json
from pathlib import Path

from ultracluster_stacks.synthesis.assembly.cdk_context import read_context


def test_reads_the_variable_and_the_file_for_what_is_too_long(tmp_path: Path) -> None:
    overflow = tmp_path / "overflow.json"
    overflow.write_text(json.dumps({"b": 3, "c": 4}))

    assert read_context({}) == {}
    assert read_context({"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}'}) == {"a": 1, "b": 2}
    assert read_context(
        {"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}', "CONTEXT_OVERFLOW_LOCATION_ENV": str(overflow)}
    ) == {"a": 1, "b": 3, "c": 4}
