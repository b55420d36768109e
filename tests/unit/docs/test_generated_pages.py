"""The generated pages name everything that they are about."""

import json
import re
from pathlib import Path

import pytest
from generated_pages import RUNTIME_MODULES, generated_pages

import ultracluster
from ultracluster_cli.main import COMMANDS


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return generated_pages()


def test_every_public_name_has_an_entry(pages: dict[str, str]) -> None:
    assert sorted(re.findall(r"^   ~ultracluster\.(\w+)$", pages["constructs.rst"], re.MULTILINE)) == sorted(
        ultracluster.__all__
    )


def test_every_module_for_programs_is_documented(pages: dict[str, str]) -> None:
    documented = re.findall(r"automodule:: ultracluster_runtime\.(\w+)", pages["runtime.rst"])
    assert documented == list(RUNTIME_MODULES)


def test_every_command_shows_its_help(pages: dict[str, str]) -> None:
    page = pages["commands.md"]
    assert re.findall(r"^## (\S+)$", page, re.MULTILINE) == sorted(COMMANDS)
    for name in ("capacity find", "jobs submit", "local env", "ami resolve"):
        _, _, entry = page.partition(f"### {name}\n")
        assert entry.lstrip().startswith(f"```text\nUsage: ultracluster {name} ")


def test_every_key_of_a_rollout_file_has_a_row(pages: dict[str, str]) -> None:
    schema = json.loads(Path("docs/rollout.schema.json").read_text(encoding="utf-8"))
    keys = [*schema["properties"], *(key for part in schema["$defs"].values() for key in part["properties"])]
    rows = re.findall(r"^\| `(\w+)`", pages["rollout-file.md"], re.MULTILINE)
    assert sorted(rows) == sorted(keys)


def test_every_link_to_a_part_of_a_rollout_file_leads_to_its_heading(pages: dict[str, str]) -> None:
    page = pages["rollout-file.md"]
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", page, re.MULTILINE)}
    assert set(re.findall(r"\(#([\w-]+)\)", page)) <= headings
