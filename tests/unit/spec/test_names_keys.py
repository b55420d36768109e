from pathlib import Path

import pytest
from tests.unit.stacks.config.key_edits import load_with_key

from ultracluster_spec.findings import FindingsError


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("kms_key_arn: alias/training", "UC5102"),
    ],
)
def test_refuses_a_key_with_its_line(fields: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_key(fields, tmp_path)

    assert [each.code for each in refused.value.findings] == [code]
    assert "rollout.yaml:" in refused.value.findings[0].location
