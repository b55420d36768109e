"""Each public class has a page that needs no import of the CDK."""

import re
import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest

import ultracluster as uc
from ultracluster_cli.class_pages import classes, page_of
from ultracluster_cli.main import main

# Only in annotations, or no class.
WITHOUT = {"acknowledge_nag", "Capacity"}


def test_each_public_class_has_a_page() -> None:
    assert set(uc.__all__) - WITHOUT <= set(classes())


@pytest.mark.parametrize("name", sorted(set(uc.__all__) - WITHOUT))
def test_a_page_begins_with_the_arguments_and_describes_each(name: str) -> None:
    page = page_of(name)
    head, _, rest = page.partition("## ")
    assert head.startswith(f"# {name}\n")
    if rest.startswith("Arguments") and name != "ITrainingQueue":  # which nobody makes
        section = rest.partition("\n## ")[0]
        assert re.findall(r"^- `.*`: ?$", section, re.MULTILINE) == []


def test_the_page_of_a_cluster_has_its_arguments_an_example_and_its_methods(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["docs", "UltraCluster"]) == 0
    page = capsys.readouterr().out
    assert [each[3:] for each in page.splitlines() if each.startswith("## ")] == [
        *("Arguments", "Example", "Attributes", "Methods")
    ]
    assert "- `node_count: int`: Maximum number" in page
    assert "- `file_system: AnyFileSystem | FileSystem | Literal['none'] | None = None`" in page
    assert "cluster = UltraCluster(" in page
    assert "- `add_multi_node_job(construct_id, job, queue, **options)`: Add a job" in page
    assert "- `checkpoint_bucket`: Bucket for checkpoints" in page  # of its base


@pytest.mark.parametrize("name", sorted(set(uc.__all__) - WITHOUT))
def test_a_page_names_public_types_and_says_each_thing_once(name: str) -> None:
    page = page_of(name)
    assert re.findall(r"^- `[^`]*(?:\b_[A-Za-z]|Annotated|field\().*", page, re.MULTILINE) == []
    fields = re.findall(r"^- `(\w+)[`:]", page, re.MULTILINE)
    assert not is_dataclass(getattr(uc, name)) or len(fields) == len(set(fields))


@pytest.mark.parametrize("name", [each for each in uc.__all__ if is_dataclass(getattr(uc, each))])
def test_a_value_has_its_fields_as_arguments_also_inherited_ones(name: str) -> None:
    shown = re.findall(r"^- `(\w+): .*`: .", page_of(name), re.MULTILINE)
    assert {field.name for field in fields(getattr(uc, name)) if field.init} == set(shown)


def test_a_field_that_is_declared_again_keeps_its_text() -> None:
    assert "- `timeout_hours: int | None = None`: Hours after which" in page_of("Job")
    assert "- `zone_id: str`: Zone ID of the nodes" in page_of("CapacityBlock")


@pytest.mark.slow
def test_a_page_imports_no_cdk() -> None:
    program = "import sys; from ultracluster_cli.main import main; main(['docs', 'Job']); sys.exit('aws_cdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, capture_output=True).returncode == 0
