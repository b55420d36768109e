"""Code blocks of the pages: each Python block runs, each YAML block is valid, each `aws` command is one of the AWS CLI.

Other tests read the other blocks. tests/integration/test_tutorials.py and test_shown_commands.py run all commands on a local AWS, compare
the output that a page shows, and list what cannot run, such as pip and docker. test_demo_page.py and test_observability_page.py read the
blocks of text, and localaws/tests/test_pytest_plugin.py the README of the local AWS. In programs that training runs on real nodes,
torch and JAX are stand-ins here; `make training` runs the same calls with the real ones.
"""

import inspect
import itertools
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from tests.unit.docs.pages import ROOT, Block, code_blocks

from ultracluster_catalog.observability.metrics import METRICS, NAMESPACE
from ultracluster_cli.main import main
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout

QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text("utf-8")


def each_block(*languages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", list(code_blocks(*languages)), ids=lambda block: block.name)


def test_every_block_is_of_a_language_that_a_test_reads() -> None:
    read = {"bash", "console", "json", "python", "text", "yaml"}
    assert {block.language for block in code_blocks()} - {"{toctree}"} == read
    texts = [block.page for block in code_blocks("text")]
    assert texts == [
        "gallery/demo.md",
        *["how-to/submit-with-other-tools.md"] * 2,
        "reference/observability.md",
        "tutorials/first-block.md",
        "CONTRIBUTING.md",
    ]


# CONTRIBUTING.md


def test_the_tree_of_the_repository_has_folders_that_exist() -> None:
    (tree,) = [block for block in code_blocks("text") if block.page == "CONTRIBUTING.md"]
    parent = ROOT
    for indent, names in re.findall(r"^( {0,2})(\S+(?:  \S+)*)  ", tree.text, re.MULTILINE):
        paths = [(parent if indent else ROOT) / name for name in names.split()]
        assert all(path.exists() for path in paths), names
        parent = parent if indent else paths[0]


# JSON and YAML


@each_block("json")
def test_every_json_block_is_one_document(block: Block) -> None:
    document = json.loads(block.text)
    if block.page == "reference/preflight.md":  # which test_preflight_page.py compares with the calls
        return
    (metrics,) = document["_aws"]["CloudWatchMetrics"]
    units = {metric["Name"]: metric["Unit"] for metric in metrics["Metrics"]}
    assert metrics["Namespace"] == NAMESPACE
    assert units == {name: METRICS[name].unit for name in units}
    assert {*units, *itertools.chain(*metrics["Dimensions"])} | {"_aws"} == document.keys()


def rollout_of(block: Block) -> str:
    """A whole rollout file with the keys of a block: those of a file, or else of its cluster."""
    keys = yaml.safe_load(block.text)
    whole = yaml.safe_load(QUICKSTART)
    (cluster,) = whole["waves"][0]["clusters"]
    if "version" in keys:
        return block.text
    if "waves" in keys:
        (ours,) = keys["waves"][0]["clusters"]
        keys["waves"][0]["clusters"] = [cluster | ours]
        return yaml.safe_dump(whole | keys)
    if "defaults" in keys:
        return yaml.safe_dump(whole | keys)
    match keys.get("file_system"):
        case {"file_system_id": _, "zone_id": zone_id}:
            cluster["zone_id"] = zone_id
    cluster |= keys
    return yaml.safe_dump(whole)


WARNED = {
    "concepts/capacity-sources.md:0": {"UC6448"},  # names nobody to notify
    "evidence/published.md:2": {"UC6108"},  # has the image of the original, from another registry
    "reference/machines.md:0": {"UC4024"},  # describes a type of its own, which is what the warning says
    "reference/machines.md:1": {"UC4016"},  # names two of sixteen interfaces
    "reference/command-line.md:0": {"UC2243"},  # suppresses a warning that the quick start does not have
}
"""What a block is warned of on purpose."""


@each_block("yaml")
def test_every_yaml_block_is_valid(block: Block, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The one that a file may have as its base.
    base = tmp_path / "rollout.yaml"
    base.write_text(QUICKSTART.replace("name: quickstart", "name: pretrain"), encoding="utf-8")
    path = tmp_path / "page.yaml"
    if "Type: AWS::" in block.text:
        path.write_text(yaml.safe_dump({"Resources": yaml.safe_load(block.text)}), encoding="utf-8")
        main(["validate", str(path)])
        out, err = capsys.readouterr()
        (skipped,) = yaml.safe_load(block.text)["Scratch"]["Metadata"]["ultracluster"]["skip"]
        assert f"skipped: {skipped}" in out + err
        return
    path.write_text(rollout_of(block), encoding="utf-8")
    if "order: " in block.text:  # a purchase that is not made yet: `capacity resolve` replaces it
        with pytest.raises(FindingsError, match=r"^UC2220: [^\n]+$"):
            load_rollout(path)
        return
    found = {finding.code for finding in load_rollout(path).warnings}
    assert found == WARNED.get(block.name, set())


# Python


SETTINGS = {
    "instance_type": "trn2.48xlarge",
    "node_count": 2,
    "image_id": "ami-0123456789abcdef0",
    "zone_id": "use2-az3",
}
"""Arguments of a cluster, which blocks leave out as ``**settings``."""


def cluster_names(**more: Any) -> dict[str, Any]:
    """What blocks of constructs assume: names of the CDK and of ours, a stack, and a cluster in it when asked for."""
    import aws_cdk as cdk
    from aws_cdk import aws_batch, aws_iam, aws_s3, aws_secretsmanager
    from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, new_stack

    import ultracluster

    stack = new_stack()
    return (
        {name: getattr(ultracluster, name) for name in ultracluster.__all__}
        | {"cdk": cdk, "Stack": cdk.Stack, "CfnOutput": cdk.CfnOutput, "app": stack.node.root, "stack": stack}
        | {"batch": aws_batch, "secretsmanager": aws_secretsmanager, "image": IMAGE, "image_id": IMAGE_ID}
        | {"corpus": aws_s3.Bucket.from_bucket_name(stack, "Corpus", "corpus")}
        | {
            "settings": SETTINGS,
            "user": aws_iam.Role(stack, "User", assumed_by=aws_iam.AccountRootPrincipal()),
        }
        | more
    )


def with_cluster() -> dict[str, Any]:
    names = cluster_names()
    network = names["ClusterNetwork"](
        names["stack"],
        "Network",
        zone_id="use2-az3",
        instance_type="trn2.48xlarge",
        node_count=2,
        endpoints=["secretsmanager"],
    )
    settings = {name: value for name, value in SETTINGS.items() if name != "zone_id"}
    cluster = names["UltraCluster"](names["stack"], "Cluster", network=network, **settings)
    return names | {"cluster": cluster}


def with_job() -> dict[str, Any]:
    import aws_cdk as cdk
    from aws_cdk import aws_events as events
    from aws_cdk import aws_events_targets as targets
    from aws_cdk import aws_stepfunctions as sfn
    from aws_cdk import aws_stepfunctions_tasks as tasks
    from tests.unit.ultracluster.builders import IMAGE

    names = with_cluster()
    job = names["cluster"].add_multi_node_job("Train", names["Job"](image=IMAGE, command=("train.py",)))
    modules = {"events": events, "targets": targets, "sfn": sfn, "tasks": tasks}
    return names | modules | {"job": job, "CfnOutput": cdk.CfnOutput, "Duration": cdk.Duration}


def with_vpc() -> dict[str, Any]:
    """A VPC that the CDK would look up in an account; its zone is that of the block."""
    from aws_cdk import aws_ec2 as ec2
    from tests.unit.ultracluster.builders import block

    def from_lookup(scope: Any, construct_id: str, *, vpc_id: str) -> ec2.IVpc:
        zones = {"availability_zones": ["us-east-2c"], "private_subnet_ids": ["subnet-0123456789abcdef0"]}
        return ec2.Vpc.from_vpc_attributes(scope, construct_id, vpc_id=vpc_id, **zones)

    looked_up = SimpleNamespace(
        Vpc=SimpleNamespace(from_lookup=from_lookup), SubnetSelection=ec2.SubnetSelection
    )
    settings = {name: value for name, value in SETTINGS.items() if name != "zone_id"}
    return cluster_names(ec2=looked_up, block=block(), settings=settings)


def with_nag() -> dict[str, Any]:
    import cdk_nag

    return cluster_names(cdk_nag=cdk_nag)


def training() -> dict[str, Any]:
    """One rank of a run of two steps, with stand-ins for torch and JAX, which only `make training` installs."""
    torch = MagicMock()
    torch.tensor = lambda value, **_: SimpleNamespace(
        item=lambda: value if isinstance(value, int) else value[0]
    )
    torch.save = lambda state, file: file.write(repr(state).encode())
    torch.distributed = MagicMock()
    modules = {"torch": torch, "torch.distributed": torch.distributed, "jax": MagicMock()}
    return {"modules": modules, "torch": torch, "dist": torch.distributed, "device": "cpu"} | {
        "batches": [1, 2],
        "train": lambda _: signal.raise_signal(signal.SIGUSR1),  # the order to write a checkpoint
        "save_checkpoint": MagicMock(),
        "load": MagicMock(),
        "state": dict,
        "rank": 0,
        "world": 1,
        "ROOT": Path("checkpoints"),
        "STEPS": 2,
    }


def measured() -> dict[str, Any]:
    more = {"PARAMETERS": 8_000_000_000, "TOKENS_OF_ALL_RANKS": 4_000_000, "time": time}
    return {"batches": [1, 2], "train": lambda _: 0.5} | more


NAMES: dict[str, Callable[[], dict[str, Any]]] = {
    "how-to/check-before-porting.md": training,
    "concepts/capacity-lifecycle.md": training,
    "concepts/training.md": training,
    "how-to/use-a-cluster-from-another-app.md": with_cluster,
    "how-to/use-an-existing-vpc.md": with_vpc,
    "how-to/submit-with-other-tools.md": with_job,
    "how-to/use-secrets.md": with_cluster,
    "how-to/who-may-submit.md": with_cluster,
    "reference/security.md": with_nag,
    "reference/training-metrics.md": measured,
    "tutorials/own-app.md": with_job,
}
"""What the blocks of a page use without defining it."""


@pytest.fixture
def signals() -> Iterator[None]:
    """Blocks that handle signals leave no handler behind."""
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.slow
@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    "block",
    [block for block in code_blocks("python") if block.page != "localaws/README.md"],
    ids=lambda block: block.name,
)
def test_every_python_block_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = NAMES.get(block.page, cluster_names)()
    monkeypatch.setenv("JAX_NUM_PROCESSES", "1")
    monkeypatch.setenv("JAX_PROCESS_ID", "0")
    for name, module in names.pop("modules", {}).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.chdir(tmp_path)
    text = f"entry = {{{block.text}}}" if block.text.startswith('"') else block.text
    exec(text, names)  # noqa: S102 - the pages are ours
    for name in [name for name in names if name.startswith("define_")]:
        wanted = inspect.signature(names[name]).parameters
        settings = SETTINGS if "settings" in wanted else {}
        names[name](**{key: names[key] for key in wanted if key in names and key != "settings"}, **settings)
    if "save_checkpoint" in names and "Checkpoint" in block.text.title():
        assert names["save_checkpoint"].called or list((tmp_path / "checkpoints").iterdir())
    if any(word in block.text for word in ("UltraCluster(", "_job(", "Queue(")):
        from aws_cdk.assertions import Template

        template = Template.from_stack(names["stack"]).to_json()
        assert any(kind.startswith("AWS::Batch") for kind in template_types(template))


def template_types(template: dict[str, Any]) -> set[str]:
    return {resource["Type"] for resource in template["Resources"].values()}
