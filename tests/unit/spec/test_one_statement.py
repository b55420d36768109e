"""Each rule about jobs, network and storage, asked of a rollout file, of a construct and of a template: the same code three times."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.checks.test_whole_cluster import JOB, variable
from tests.unit.checks.whole_cluster import codes_after
from tests.unit.ultracluster.builders import IMAGE, network, new_stack, nodes, queue

from ultracluster import Association, FileSystem, Job, MultiNodeJob, SharedFileSystem, TrainingQueue
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import RECORDS as TEMPLATES
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.records import RECORDS

pytestmark = pytest.mark.slow

Findings = Callable[..., list[Finding]]
_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
_LONG = "x" * 24_576


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """A mistake as a rollout file, a construct and a template have it.

    Attributes:
        code: Code of its rule.
        path: Where it is in the job of a rollout file, and in the arguments of a construct.
        yaml: What stands for what in the valid rollout.
        arguments: Changed arguments of a multi-node job.
        template: Edits of the stack of the quick start's cluster.
    """

    code: str
    path: str
    yaml: tuple[str, str]
    arguments: dict[str, Any]
    template: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code} {self.path}"


def of_variable(code: str, name: str, value: str) -> Mistake:
    """A variable of the environment."""
    return Mistake(
        code=code,
        path=f"environment.{name}",
        yaml=(_ENVIRONMENT, f'{{{name}: "{value}"}}'),
        arguments={"environment": {name: value}},
        template=variable(name, value),
    )


def of_argument(
    code: str, path: str, text: str, arguments: dict[str, Any], template: dict[str, Any]
) -> Mistake:
    """A setting of the job, in the line before its image."""
    return Mistake(
        code=code,
        path=path,
        yaml=("image: 1", f"{text}\n            image: 1"),
        arguments=arguments,
        template=template,
    )


MISTAKES = [
    of_variable("UC6408", "FI_PROVIDER", "tcp"),
    of_variable("UC6416", "NCCL_NET", "Socket"),
    of_variable("UC6416", "MASTER_ADDR", "localhost"),
    of_variable("UC6416", "RANK", "7"),
    of_variable("UC6416", "NEURON_RT_NUM_CORES", "9999"),
    of_variable("UC6416", "NEURON_RT_VISIBLE_CORES", "0-3"),
    of_variable("UC6416", "NEURON_CC_FLAGS", "--target=trn1"),
    of_variable("UC6416", "NEURON_RT_NUM_CORE", "32"),
    of_variable("UC6417", "CHECKPOINT_DIR", "/data/checkpoints"),
    of_variable("UC6010", "NEURON_CC_FLAGS", "--cache_dir=s3://elsewhere"),
    of_variable("UC6109", "AWS_BATCH_JOB_NUM_NODES", "4"),
    of_variable("UC6411", "TEXT", _LONG),
    of_argument(
        "UC6104",
        "attempts",
        "attempts: 11",
        {"attempts": 11},
        {},
    ),
    of_argument(
        "UC6406",
        "ulimits.nofile",
        "ulimits: {nofile: 1024}",
        {"ulimits": {"nofile": 1024}},
        {f"{JOB}/Ulimits/+": {"Name": "nofile", "SoftLimit": 1024, "HardLimit": 1024}},
    ),
    of_argument(
        "UC6406",
        "ulimits.memlock",
        "ulimits: {memlock: 64}",
        {"ulimits": {"memlock": 64}},
        {f"{JOB}/Ulimits/0/SoftLimit": 64},
    ),
    of_argument(
        "UC6103",
        "processes_per_node",
        "processes_per_node: 24",
        {"processes_per_node": 24},
        variable("UC_PROCESSES_PER_NODE", "24"),
    ),
    of_variable("UC6103", "NEURON_LOGICAL_NC_CONFIG", "1"),
    Mistake(
        code="UC6144",
        path="command[0]",
        yaml=("[train.py]", '["--standalone", train.py]'),
        arguments={"command": ["--standalone", "train.py"]},
        template={f"{JOB}/Command": ["torchrun", "--standalone", "train.py"]},
    ),
    Mistake(
        code="UC6145",
        path="command[0]",
        yaml=("[train.py]", "[python, train.py]"),
        arguments={"command": ["python", "train.py"]},
        template={f"{JOB}/Command": ["torchrun", "python", "train.py"]},
    ),
    of_argument(
        "UC6101",
        "nodes",
        "nodes: 5",
        {"nodes": 5},
        {"JobDefinition/NodeProperties/NumNodes": 5},
    ),
]
"""Without those that only a template can have, such as devices that are not mapped, and permissions, which a construct gets later."""


@pytest.fixture(scope="module")
def training() -> TrainingQueue:
    """A queue of four nodes."""
    return queue(cdk.Stack(cdk.App(), "Test", env=cdk.Environment(region="us-east-2")), max_nodes=4)


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_has_one_code(findings: Findings, training: TrainingQueue, mistake: Mistake) -> None:
    written = findings(mistake.yaml)
    job = Job(**{"image": IMAGE, "command": ("train.py",)} | mistake.arguments)
    with pytest.raises(FindingsError) as refused:
        MultiNodeJob(cdk.Stack.of(training), "Job", job, queue=training)

    assert {each.code for each in written} == {mistake.code}
    assert {each.code for each in refused.value.findings} == {mistake.code}
    # RegisterJobDefinition refuses the others, so that a template is not asked for them.
    if TEMPLATES[mistake.code].in_templates:
        assert mistake.code in codes_after("Cluster", mistake.template)
    assert [each.path for each in written] == [f"waves[0].clusters[0].jobs[0].{mistake.path}"]
    assert [each.path for each in refused.value.findings] == [mistake.path]


_BUCKET = "s3://corpora/"
_TIERED = {"storage_type": "INTELLIGENT_TIERING", "link_checkpoints": False}
_LINKS = [
    {"file_system_path": f"/{each}", "data_repository_path": f"{_BUCKET}{each}/"} for each in "abcdefghi"
]
STORAGE: list[tuple[str, dict[str, Any]]] = [
    ("UC5002", {"per_unit_storage_throughput": 333}),
    ("UC5003", {"storage_capacity_gib": 1300}),
    ("UC5005", {"deployment_type": "SCRATCH_2", "metadata_iops": 6000}),
    ("UC5006", {"metadata_iops": 9000}),
    ("UC5010", {**_TIERED, "deployment_type": "SCRATCH_2", "read_cache": "NO_CACHE"}),
    ("UC5011", {**_TIERED, "read_cache": "NO_CACHE", "storage_capacity_gib": 4800}),
    ("UC5012", {**_TIERED, "read_cache": "NO_CACHE", "throughput_capacity": 5000}),
    ("UC5013", _TIERED),
    ("UC5014", {"associations": _LINKS[:1], "backup_retention_days": 7}),
    ("UC5015", {"link_checkpoints": False, "backup_retention_days": 91}),
    ("UC5020", {**_TIERED, "read_cache": "NO_CACHE", "associations": _LINKS[:1]}),
    ("UC5021", {"associations": _LINKS}),
    ("UC5022", {"associations": [{**_LINKS[0], "file_system_path": "data"}]}),
    ("UC5023", {"associations": [_LINKS[0], {**_LINKS[1], "file_system_path": "/a/b"}]}),
    ("UC5024", {"associations": [_LINKS[0], {**_LINKS[1], "data_repository_path": f"{_BUCKET}a/b/"}]}),
    ("UC5026", {"associations": [{**_LINKS[0], "import_events": ["NEW", "NEW"]}]}),
    ("UC5027", {"efa": True, "storage_capacity_gib": 19200}),
    ("UC5208", {"associations": [{**_LINKS[0], "export_events": ["DELETED"]}]}),
]
_PRIMARY = {"card": 0, "device": 0, "interface_type": "efa"}
NETWORK: list[tuple[str, list[dict[str, Any]]]] = [
    ("UC4010", [{**_PRIMARY, "interface_type": "efa-only"}]),
    ("UC4011", [_PRIMARY, {"card": 16, "device": 1, "interface_type": "efa-only"}]),
    ("UC4012", [_PRIMARY, {"card": 1, "device": 2, "interface_type": "efa-only"}]),
    ("UC4013", [_PRIMARY, {**_PRIMARY, "interface_type": "interface"}]),
    ("UC4014", [_PRIMARY, {"card": 0, "device": 1, "interface_type": "efa-only"}]),
    ("UC4016", [_PRIMARY, {"card": 1, "device": 1, "interface_type": "efa-only"}]),
]
# Rules about jobs, network and storage that cannot be broken alike in all three, by the reason.
OTHERS = {
    "asked of constructs and templates elsewhere: types, IDs, words, scripts and addresses that each reads by itself": (
        "UC4109 UC4110 UC4180 UC5025"
    ),
    "constructs take zones, capacity, further queues and images as objects, and count addresses for themselves": (
        "UC3002 UC4015 UC4017 UC4020 UC4104 UC4106 UC4120 UC4131 UC6107 UC6108 UC6307 UC6308"
    ),
    "a construct maps all devices, and gets permissions after the job": "UC6402 UC6419",
    "only constructs take objects of the CDK, or have this part": (
        "UC3110 UC3113 UC3180 UC3181 UC3208 UC3260 UC5060 UC5061 UC5141 UC5217 UC5251 UC6015 UC6152 UC6160 UC6161 UC6162 UC6165 UC6316 "
        "UC6334 UC6335 UC6336 UC6337 UC6339 UC6363 UC6441 UC6442 UC6443 UC6444"
    ),
    "a choice or its combination that no resource shows": (
        "UC3107 UC3108 UC5103 UC5112 UC6011 UC6012 UC6014 UC6016 UC6018 UC6051 UC6112 UC6114 UC6115 UC6116 UC6118 UC6140 UC6142 "
        "UC6150 UC6151 UC6158 UC6159 UC6309 UC6312 UC6314 UC6315 UC6331 UC6332 UC6333 UC6445 UC6448"
    ),
    "a bound or form that CloudFormation or the service refuses, which the template check leaves to it and to cfn-lint": (
        "UC3001 UC3101 UC3103 UC3109 UC3112 UC4001 UC5001 UC5004 UC5007 UC5101 UC5102 UC5110 UC5111 UC5142 UC5143 UC6017 UC6106 UC6111 UC6113 UC6117 UC6122 "
        "UC6156 UC6301 UC6302 UC6303 UC6304 UC6305 UC6306 UC6313 UC6360 UC6361 UC6362 UC6440"
    ),
    "what is in the account, another stack or another Region, which a template does not say": (
        "UC3003 UC3102 UC3104 UC3105 UC3106 UC5030 UC5031 UC5032 UC5033 UC5104 UC5105 UC5140 UC5250 UC6120 UC6124 UC6180 UC6350 UC6447 UC6449"
    ),
    "names are unique in a file; in a template, they are keys": "UC5113 UC6110 UC6153 UC6310 UC6446",
    "templates have the whole role, container or time, of which other rules speak: UC6407, UC6409, UC6410, UC6420, UC6430, UC6450 to UC6453": (
        "UC6013 UC6102 UC6105 UC6119 UC6121 UC6123 UC6143 UC6155 UC6157 UC6330"
    ),
    "what constructs always make right, and a value cannot say": " ".join(TEMPLATES.keys() - RECORDS.keys()),
}  # fmt: skip

# Of LustreSettings; the API reference of FSx, CreateFileSystem and CreateFileSystemLustreConfiguration.
_PROPERTIES = {
    "storage_capacity_gib": "StorageCapacity",
    "storage_type": "StorageType",
    "file_system_type_version": "FileSystemTypeVersion",
}
_OF_LUSTRE = {
    "deployment_type": "DeploymentType",
    "per_unit_storage_throughput": "PerUnitStorageThroughput",
    "throughput_capacity": "ThroughputCapacity",
    "efa_enabled": "EfaEnabled",
    "backup_retention_days": "AutomaticBackupRetentionDays",
}  # fmt: skip


def file_system(values: dict[str, Any]) -> FileSystem:
    """The value of the keys of a rollout file."""
    links = [
        {key: tuple(each) if isinstance(each, list) else each for key, each in link.items()}
        for link in values.get("associations", ())
    ]
    return FileSystem(**values | {"associations": tuple(Association(**link) for link in links), "link_checkpoints": False})  # fmt: skip


def template_of_storage(values: dict[str, Any]) -> dict[str, Any]:
    """The resources of a file system with these values, as a template has them."""
    settings = asdict(file_system(values).settings)
    own = {name: settings[field] for field, name in _PROPERTIES.items() if settings[field]}
    lustre = {name: settings[field] for field, name in _OF_LUSTRE.items() if settings[field]}
    if settings["metadata_iops"]:
        lustre["MetadataConfiguration"] = {"Mode": "USER_PROVISIONED", "Iops": settings["metadata_iops"]}
    elif lustre["DeploymentType"] == "PERSISTENT_2":
        lustre["MetadataConfiguration"] = {"Mode": "AUTOMATIC"}
    if settings["read_cache"]:
        lustre["DataReadCacheConfiguration"] = {"SizingMode": settings["read_cache"]}
    resources = {"Files": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE", **own, "LustreConfiguration": lustre}}}  # fmt: skip
    for number, link in enumerate(values.get("associations", ())):
        events = {
            policy: {"Events": list(link.get(key, ("NEW", "CHANGED")))}
            for key, policy in {
                "import_events": "AutoImportPolicy",
                "export_events": "AutoExportPolicy",
            }.items()
        }
        properties = {"FileSystemId": {"Ref": "Files"}, "FileSystemPath": link["file_system_path"]}
        properties |= {"DataRepositoryPath": link["data_repository_path"], "S3": events}
        resources[f"Link{number}"] = {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": properties}
    return resources


def template_of_network(interfaces: list[dict[str, Any]]) -> dict[str, Any]:
    """A launch template with these interfaces."""
    cards = [
        {
            "NetworkCardIndex": each["card"],
            "DeviceIndex": each["device"],
            "InterfaceType": each["interface_type"],
        }
        for each in interfaces
    ]
    return _launching(cards)


def _launching(cards: list[dict[str, Any]]) -> dict[str, Any]:
    data = {"InstanceType": "trn2.48xlarge", "NetworkInterfaces": cards}
    return {"Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}}


def codes_of_template(resources: dict[str, Any]) -> set[str]:
    return {each.code for each in check_templates([Source(name="x", body={"Resources": resources})]).findings}


def codes_of_construct(make: Callable[[cdk.Stack], object]) -> set[str]:
    """The codes of the errors of a construct, or of its warnings."""
    stack = new_stack()
    try:
        make(stack)
    except FindingsError as refused:
        return {each.code for each in refused.findings}
    entries = (entry for each in stack.node.find_all() for entry in each.node.metadata)
    return {str(entry.data).partition(":")[0] for entry in entries if entry.type == "aws:cdk:warning"}


@pytest.mark.parametrize(("code", "values"), STORAGE)
def test_a_mistake_in_storage_has_one_code(findings: Findings, code: str, values: dict[str, Any]) -> None:
    clients = {"efa_clients": "trn2.48xlarge"} if values.get("efa") else {}

    def make(stack: cdk.Stack) -> None:
        SharedFileSystem(stack, "Files", network=network(stack), settings=file_system(values), **clients)

    written = json.dumps({"link_checkpoints": False, **values})
    assert code in {
        each.code
        for each in findings(("{storage_capacity_gib: 4800, per_unit_storage_throughput: 250}", written))
    }
    assert code in codes_of_construct(make)
    # CreateFileSystem refuses the others before anything is billed, so that a template is not asked for them.
    if TEMPLATES[code].in_templates:
        clients_of_template = _launching([]) if clients else {}
        assert code in codes_of_template(template_of_storage(values) | clients_of_template)


@pytest.mark.parametrize(("code", "interfaces"), NETWORK)
def test_a_mistake_in_the_network_has_one_code(
    findings: Findings, code: str, interfaces: list[dict[str, Any]]
) -> None:
    def make(stack: cdk.Stack) -> None:
        cards = [NetworkInterface(**each) for each in interfaces]
        nodes(stack, nic_layout=cards)

    written = json.dumps({"network_interfaces": interfaces})
    assert code in {each.code for each in findings(("{cidr: 10.0.0.0/16}", written))}
    assert code in codes_of_construct(make)
    assert code in codes_of_template(template_of_network(interfaces))


def test_every_rule_is_asked_three_times_or_has_a_reason() -> None:
    asked = {mistake.code for mistake in MISTAKES} | {code for code, _ in (*STORAGE, *NETWORK)}
    reasons = [code for codes in OTHERS.values() for code in codes.split()]
    of_subjects = {code for code in TEMPLATES if code[2] in "356"}
    shared = {code for code, record in RECORDS.items() if record.in_templates}

    assert Counter(reasons).most_common(1)[0][1] == 1
    assert not asked & {*reasons}
    assert (of_subjects | shared) - asked - {*reasons} == set()
    assert {*reasons} <= TEMPLATES.keys()
