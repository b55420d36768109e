from pathlib import Path

import pytest

from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import load_rollout

QUICKSTART = Path(__file__).parents[5] / "stacks" / "rollouts" / "quickstart.yaml"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def load(fields: str, folder: Path) -> str | None:
    path = folder / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace("        jobs:\n", f"        {fields}\n        jobs:\n", 1)
    )
    return load_rollout(path).config.waves[0].clusters[0].kms_key_arn


def test_takes_a_key_of_its_region(tmp_path: Path) -> None:
    assert load(f'kms_key_arn: "{KEY}"', tmp_path) == KEY


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("kms_key_arn: alias/training", "UC5102"),
        (f'kms_key_arn: "{KEY.replace("us-east-2", "eu-west-1")}"', "UC5104"),
        (f'kms_key_arn: "{KEY}"\n        compile_cache: {{replicate_to: [another-cache]}}', "UC5250"),
    ],
)
def test_refuses_with_its_line(fields: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load(fields, tmp_path)

    assert [each.code for each in refused.value.findings] == [code]
    assert "rollout.yaml:" in refused.value.findings[0].location


def test_copies_pass_without_a_key(tmp_path: Path) -> None:
    assert load("compile_cache: {replicate_to: [another-cache]}", tmp_path) is None
