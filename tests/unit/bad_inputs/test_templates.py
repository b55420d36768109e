"""What `ultracluster validate` says of templates of other people."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracluster_cli.main import main

TEMPLATES = yaml.safe_load(Path(__file__).with_name("templates.yaml").read_text("utf-8"))


@pytest.mark.parametrize("row", TEMPLATES, ids=lambda row: row["what"])
def test_says_what_is_wrong_with_a_template(
    row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = tmp_path / "template.json"
    body = {"Parameters": row.get("parameters", {}), "Resources": row["template"]}
    template.write_text(json.dumps(body, indent=1))
    exit_code = main(["validate", str(template)])
    found = set(re.findall(r"^(?:warning: )?(UC\d{4}): ", capsys.readouterr().err, re.MULTILINE))
    assert set(row.get("says", ())) <= found
    assert found.isdisjoint(row.get("never", ()))
    if "never" not in row:
        assert exit_code == row.get("exit_code", 2)
