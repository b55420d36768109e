"""The published JSON schema."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import NIC_LAYOUTS
from ultracluster_stacks.config.schema import SCHEMA_FILE, rollout_schema, schema_text

jsonschema = pytest.importorskip("jsonschema")  # comes with moto and cfn-lint

_ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(rollout_schema())
    return jsonschema.Draft202012Validator(rollout_schema())


def _properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for definition in (schema, *schema["$defs"].values()):
        yield from definition["properties"].items()


def test_the_published_schema_is_that_of_the_models() -> None:
    assert (_ROOT / SCHEMA_FILE).read_text() == schema_text(), "run `make tables`"


def test_every_key_is_described() -> None:
    assert [name for name, schema in _properties(rollout_schema()) if not schema.get("description")] == []


def test_names_the_choices_of_the_catalogue() -> None:
    properties = rollout_schema()["$defs"]["Cluster"]["properties"]

    listed, own = properties["instance_type"]["anyOf"]
    assert listed == {"enum": list(INSTANCE_TYPES)}
    assert not re.match(own["pattern"], "Trn2 48xlarge")
    network = rollout_schema()["$defs"]["Network"]["properties"]
    assert network["nic_layout"]["enum"] == list(NIC_LAYOUTS)


@pytest.mark.parametrize(
    "path", sorted((_ROOT / "stacks" / "rollouts").glob("*.yaml")), ids=lambda path: path.name
)
def test_each_ready_rollout_is_valid(validator: Any, path: Path) -> None:
    validator.validate(yaml.safe_load(path.read_text()))


def test_takes_the_valid_rollout_of_these_tests(validator: Any, valid: str) -> None:
    validator.validate(yaml.safe_load(valid))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", "version: 2"),
        ("nodes: 4", "nodes: 0"),
        ("nodes: 4", 'nodes: "4"'),
        ("region:", "regio:"),
        ("us-east-2\n", "us-east-9\n"),
        ("trn2.48xlarge", "trn2"),
        ("capacity-block", "reserved"),
        ("cr-0", "cb-0"),
        ("2026-12-04T11:30:00Z", "2026-12-04"),
        ("10.0.0.0/16", "10.0.0.0/8"),
        ("{team: ", '{"aws:team": '),
        ("NEURON_RT_LOG_LEVEL", "AWS_BATCH_X"),
        ("            image: ", "            imag: "),
        ("version: 1\n", ""),
    ],
)
def test_refuses_what_the_models_refuse_in_single_values(
    validator: Any, valid: str, old: str, new: str
) -> None:
    assert old in valid

    with pytest.raises(jsonschema.ValidationError):
        validator.validate(yaml.safe_load(valid.replace(old, new, 1)))
