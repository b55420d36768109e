"""Every example in Python of a rule is executed: one breaks the rule, and its neighbour keeps it."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.rule_examples import EXAMPLES
from tests.unit.ultracluster import builders

import ultracluster as uc
import ultracluster_catalog
import ultracluster_spec
from ultracluster_catalog.neuron.neuron_images import NeuronImage
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

_EXAMPLES: Final = EXAMPLES["python"]
_TYPE: Final = "trn2.48xlarge"
_CATALOG: Final = [
    importlib.import_module(module.name)
    for package in (ultracluster_catalog, ultracluster_spec)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]

# What an example may name beside `ultracluster`, the catalogue and its own stack; made when it is named.
_PREPARED: Final[dict[str, Callable[["Names"], Any]]] = {
    "block": lambda _: builders.block(),
    "image": lambda _: builders.IMAGE,
    "network": lambda names: builders.network(names["stack"]),
    "nodes": lambda names: builders.nodes(names["stack"], network=names["network"], capacity=names["block"]),
    "queue": lambda names: uc.TrainingQueue(
        names["stack"], "PreparedQueue", nodes=names["nodes"], max_nodes=4
    ),
    "file_system": lambda names: uc.SharedFileSystem(
        names["stack"], "PreparedFileSystem", network=names["network"]
    ),
    "cluster": lambda names: uc.UltraCluster(
        names["stack"],
        "PreparedCluster",
        instance_type=_TYPE,
        node_count=4,
        image_id=builders.IMAGE_ID,
        capacity=names["block"],
    ),
    "parent": lambda _: NeuronImage(kind="ecs-neuron", image_id=builders.IMAGE_ID),
    "ledger": lambda names: uc.CapacityLedger(names["stack"], "PreparedLedger"),
    "standing_order": lambda _: builders.STANDING_ORDER,
    "account": lambda _: iam.AccountPrincipal("123456789012"),
    "cdk": lambda _: cdk,
    "ec2": lambda _: ec2,
    "iam": lambda _: iam,
    "kms": lambda _: kms,
    "s3": lambda _: s3,
}


def _functions() -> Iterator[Callable[..., Any]]:
    for name in uc.__all__:
        public = getattr(uc, name)
        members = vars(public) if isinstance(public, type) else {}
        yield from filter(inspect.isfunction, (public, *(getattr(public, member) for member in members)))


_ARGUMENTS: Final = {
    argument for function in _functions() for argument in inspect.signature(function).parameters
}


class Names(dict[str, Any]):
    """The names of an example."""

    def __missing__(self, name: str) -> Any:
        if name in _PREPARED:
            self[name] = _PREPARED[name](self)
            return self[name]
        for module in (uc, *_CATALOG):
            if hasattr(module, name):
                return getattr(module, name)
        raise KeyError(name)


@pytest.fixture(scope="module")
def app() -> cdk.App:
    return cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)


def codes(app: cdk.App, name: str, example: str) -> set[str]:
    """The codes of what is found when the example runs in a stack of its own: raised, given back, or shown by the CDK."""
    account = f"{len(app.node.children):012}"  # each has a block of its own
    stack = cdk.Stack(app, name, env=cdk.Environment(region=builders.REGION, account=account))
    try:
        given = eval(example, {}, Names(stack=stack))  # noqa: S307 - a text of our own package
    except FindingsError as error:
        named = {re.split(r"[.\[]", finding.path)[0] for finding in error.findings if finding.path}
        # A path names an argument of the call, whether it is given or missing.
        assert all(name in example or name in _ARGUMENTS for name in named), named
        return {finding.code for finding in error.findings}
    if isinstance(given, list):  # of a check of the catalogue
        return {finding.code for finding in given}
    return {
        code
        for node in stack.node.find_all()
        for entry in node.node.metadata
        if entry.type == "aws:cdk:warning"
        for code in re.findall(r"UC\d{4}", str(entry.data))
    }


@pytest.mark.parametrize("code", _EXAMPLES)
def test_one_example_breaks_the_rule_and_its_neighbour_keeps_it(app: cdk.App, code: str) -> None:
    note = _EXAMPLES[code]

    assert code in codes(app, f"{code}Fails", note.fails)
    # What nobody showed of AWS Batch, and where the image is, concerns other examples.
    assert codes(app, f"{code}Passes", note.passes) - {"UC4152", "UC6180"} == set()
