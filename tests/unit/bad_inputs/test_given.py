"""What `ultracluster validate` says of rollout files that people wrote. Their templates are in templates.yaml."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracluster_cli.main import main

GIVEN = Path(__file__).with_name("given")
SAID = yaml.safe_load(Path(__file__).with_name("given.yaml").read_text("utf-8"))
LONG = "x" * 40_000


def test_each_file_is_judged() -> None:
    assert {path.stem for path in GIVEN.iterdir()} == SAID.keys()


@pytest.mark.parametrize(("name", "expected"), SAID.items(), ids=SAID)
def test_says_in_one_line_for_each_fault_where_it_is_and_what_to_do(
    name: str, expected: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text((GIVEN / f"{name}.yaml").read_text("utf-8").replace("LONG", LONG))

    assert main(["validate", str(rollout)]) == expected["exits"]

    told = capsys.readouterr().err
    form = rf"^(?:warning: )?(UC\d{{4}}): {re.escape(str(rollout))}:\d+: waves\[0\]\.clusters\[0\](\S+): .+$"
    assert [f"{code} @{place}" for code, place in re.findall(form, told, re.MULTILINE)] == expected["says"]
    valid = [f"{rollout} is valid."] if expected["exits"] == 0 else []
    assert len(told.splitlines()) == len([*expected["says"], *valid])
    assert expected.get("words", "") in told
