"""The context of the app; what it refuses is in test_app.py."""

import json
from pathlib import Path

from ultracluster_stacks.synthesis.context import read_context


def test_reads_context_from_the_variable_and_the_overflow_file(tmp_path: Path) -> None:
    overflow = tmp_path / "overflow.json"
    overflow.write_text(json.dumps({"b": 3, "c": 4}))

    assert read_context({}) == {}
    assert read_context({"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}'}) == {"a": 1, "b": 2}
    assert read_context(
        {"CDK_CONTEXT_JSON": '{"a": 1, "b": 2}', "CONTEXT_OVERFLOW_LOCATION_ENV": str(overflow)}
    ) == {"a": 1, "b": 3, "c": 4}
