"""Mistakes in a rollout, each with its code, its place and what the message says."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding

Findings = Callable[..., list[Finding]]

_TYPE = "trn2.48xlarge"
_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
_CLUSTER = "waves[0].clusters[0]"
_JOB = f"{_CLUSTER}.jobs[0]"


def test_the_valid_rollout_has_no_findings(findings: Findings) -> None:
    assert findings() == []


@pytest.mark.parametrize(
    ("old", "new", "code", "path", "part"),
    [
        # Keys, types and choices
        ("region:", "regio:", "UC1020", f"{_CLUSTER}.regio", "Did you mean 'region'?"),
        (
            "region:",
            "regi\u043en:",
            "UC1020",
            f"{_CLUSTER}['regi\\u043en']",
            "U+043E (CYRILLIC SMALL LETTER O)",
        ),
        ("defaults:", "default:", "UC1020", "default", "Did you mean 'defaults'?"),
        ("  image_id:", "  imageid:", "UC1020", "defaults.imageid", "Did you mean 'image_id'?"),
        ("version: 1\n", "", "UC1021", "version", "version is required"),
        ("version: 1", "version: 2", "UC1023", "version", "got 2. Allowed: 1"),
        ("region: us-east-2", "region:", "UC1021", f"{_CLUSTER}.region", "required and has no value"),
        ("nodes: 4", "nodes: ~", "UC1021", f"{_CLUSTER}.nodes", "required and has no value"),
        ("nodes: 4", "nodes: 3.5", "UC1022", f"{_CLUSTER}.nodes", "got 3.5. Allowed: a whole number"),
        ("nodes: 4", "nodes: true", "UC1022", f"{_CLUSTER}.nodes", "got true. Allowed: a whole number"),
        ("nodes: 4", 'nodes: "4"', "UC1022", f"{_CLUSTER}.nodes", "Write it without quotes"),
        ("nodes: 4", "nodes: [4]", "UC1022", f"{_CLUSTER}.nodes", "got a list"),
        ("nodes: 4", "nodes: 0b1", "UC1013", f"{_CLUSTER}.nodes", "plain decimal"),
        ("nodes: 4", "nodes: .nan", "UC1014", f"{_CLUSTER}.nodes", "finite"),
        ("nodes: 4", f"nodes: {2**53 + 1}", "UC1014", f"{_CLUSTER}.nodes", "below 2^53"),
        ("region: us-east-2", "region: no", "UC1015", f"{_CLUSTER}.region", '"no"'),
        (
            "name: train",
            "name: 5",
            "UC1022",
            f"{_CLUSTER}.name",
            'got 5. Allowed: text. Write it in quotes: "5"',
        ),
        ("{cidr: 10.0.0.0/16}", "10.0.0.0/16", "UC1022", f"{_CLUSTER}.network", "Allowed: a mapping"),
        ("[train.py]", "train.py", "UC1022", f"{_JOB}.command", "Allowed: a list"),
        ("{team: research}", "[research]", "UC1022", "defaults.tags", "got a list. Allowed: a mapping"),
        (
            "capacity-block",
            "reserved",
            "UC1023",
            f"{_CLUSTER}.capacity.market_type",
            "capacity-block, on-demand, spot",
        ),
        (
            "capacity-block",
            "on_demand",
            "UC1023",
            f"{_CLUSTER}.capacity.market_type",
            "Did you mean 'on-demand'?",
        ),
        # Names, Region, account, tags
        ("name: train", "name: a/b", "UC2101", f"{_CLUSTER}.name", "got 'a/b'"),
        ("name: train", "name: ../x", "UC2101", f"{_CLUSTER}.name", "lower case letters"),
        ("name: train", "name: \u00fcn\u00ef", "UC2101", f"{_CLUSTER}.name", "got '\\xfcn\\xef'"),
        ("name: train", 'name: ""', "UC2101", f"{_CLUSTER}.name", "got ''"),
        ("name: train", "name: " + "x" * 33, "UC2101", f"{_CLUSTER}.name", "2 to 32 lower case letters"),
        ("name: train", "name: -a", "UC2101", f"{_CLUSTER}.name", "starting with a letter"),
        ("name: train", "name: 1a", "UC2101", f"{_CLUSTER}.name", "starting with a letter"),
        ("name: train", 'name: "train\\n"', "UC2101", f"{_CLUSTER}.name", "'train\\n'"),
        ("us-east-2\n", "us-east-9\n", "UC2102", f"{_CLUSTER}.region", "Did you mean 'us-east"),
        ("us-east-2\n", "US-EAST-2\n", "UC2102", f"{_CLUSTER}.region", "Did you mean 'us-east-2'?"),
        ("us-east-2\n", '" us-east-2"\n', "UC2102", f"{_CLUSTER}.region", "Did you mean 'us-east-2'?"),
        ("us-east-2\n", "'us-east-2; rm -rf'\n", "UC2102", f"{_CLUSTER}.region", "got 'us-east-2; rm -rf'"),
        (
            "nodes:",
            "account: 111122223333\n        nodes:",
            "UC1022",
            f"{_CLUSTER}.account",
            "12 digits in quotes",
        ),
        (
            "nodes:",
            "account: 012345678901\n        nodes:",
            "UC1013",
            f"{_CLUSTER}.account",
            '"012345678901"',
        ),
        ("nodes:", 'account: "1111"\n        nodes:', "UC2104", f"{_CLUSTER}.account", "12 digits in quotes"),
        (
            "nodes:",
            'account: "1111-2222-3333"\n        nodes:',
            "UC2104",
            f"{_CLUSTER}.account",
            "without hyphens",
        ),
        ("nodes:", "profile: --app\n        nodes:", "UC2230", f"{_CLUSTER}.profile", "such as production"),
        ("nodes:", "profile: my own\n        nodes:", "UC2230", f"{_CLUSTER}.profile", "such as production"),
        ("team: r", '"aws:x": r', "UC2107", "defaults.tags['aws:x']", "without the reserved prefix aws:"),
        ("team: r", '"AWS:x": r', "UC2107", "defaults.tags['AWS:x']", "without the reserved prefix aws:"),
        ("team: r", "k" * 129 + ": r", "UC2107", "defaults.tags." + "k" * 129, "1 to 128"),
        ("team: r", '"": r', "UC2107", "defaults.tags['']", "1 to 128"),
        ("team: research", "team: " + "v" * 257, "UC2107", "defaults.tags.team", "1 to 256"),
        ("team: research", 'team: ""', "UC2107", "defaults.tags.team", "1 to 256"),
        ("team: research", "team: a;b", "UC2107", "defaults.tags.team", "letters, digits, spaces"),
        ("team: research", ",".join(f"k{n}: v" for n in range(41)), "UC2107", "defaults.tags", "got 41 tags"),
        ("train.py", "AKIAIOSFODNN7EXAMPLE", "UC2108", f"{_JOB}.command[0]", "an AWS access key id"),
        (_ENVIRONMENT, "{HF_TOKEN: xyz}", "UC2108", f"{_JOB}.environment.HF_TOKEN", "AWS Secrets Manager"),
        # Network and zone
        (
            "use2-az3",
            "use1-az1",
            "UC3102",
            f"{_CLUSTER}.zone_id",
            "use1-az1 is in us-east-1, not in us-east-2",
        ),
        ("use2-az3", "us-east-2a", "UC3101", f"{_CLUSTER}.zone_id", "This is a zone name"),
        ("use2-az3", "junk", "UC3101", f"{_CLUSTER}.zone_id", "such as use2-az3"),
        ("use2-az3", "xxx9-az1", "UC3003", f"{_CLUSTER}.zone_id", "not a zone id of a known Region"),
        ("10.0.0.0/16", "10.0.0.0/15", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "10.0.0.0/29", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "10.0.0.0/33", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "ten", "UC3103", f"{_CLUSTER}.network.cidr", "got 'ten'"),
        ("10.0.0.0/16", "10.0.0.7/16", "UC3103", f"{_CLUSTER}.network.cidr", "is 10.0.0.0/16"),
        ("10.0.0.0/16", "10.0.0.0", "UC3103", f"{_CLUSTER}.network.cidr", "got '10.0.0.0'"),
        ("10.0.0.0/16", "10.0.0.0/255.255.0.0", "UC3103", f"{_CLUSTER}.network.cidr", "/16 to /28"),
        ("10.0.0.0/16", "169.254.0.0/16", "UC3103", f"{_CLUSTER}.network.cidr", "reserved 169.254.0.0/16"),
        ("10.0.0.0/16", "127.0.0.0/16", "UC3103", f"{_CLUSTER}.network.cidr", "reserved 127.0.0.0/8"),
        ("10.0.0.0/16", '"fd00::/16"', "UC3103", f"{_CLUSTER}.network.cidr", "IPv4"),
        ("10.0.0.0/16", "8.8.0.0/16", "UC3104", f"{_CLUSTER}.network.cidr", "not private"),
        ("10.0.0.0/16", "100.64.0.0/16", "UC3104", f"{_CLUSTER}.network.cidr", "not private"),
        ("10.0.0.0/16", "172.17.0.0/16", "UC3104", f"{_CLUSTER}.network.cidr", "Docker"),
        (
            "{cidr: 1",
            "{subnet_prefix: 15, cidr: 1",
            "UC3105",
            f"{_CLUSTER}.network.subnet_prefix",
            "16 to 28",
        ),
        (
            "10.0.0.0/16",
            "10.0.0.0/18, subnet_prefix: 17",
            "UC3105",
            f"{_CLUSTER}.network.subnet_prefix",
            "18 to 28",
        ),
        (
            "10.0.0.0/16",
            "10.0.0.0/25",
            "UC3105",
            f"{_CLUSTER}.network.cidr",
            "150 addresses, but a /25 has 128",
        ),
        ("{cidr: 1", "{nic_layout: bach, cidr: 1", "UC4002", f"{_CLUSTER}.network.nic_layout", "'batch'?"),
        # Instance type, capacity, AMI
        (_TYPE, "trn2.96xlarge", "UC4001", f"{_CLUSTER}.instance_type", "Did you mean 'trn"),
        (_TYPE, "ml.trn2.48xlarge", "UC4001", f"{_CLUSTER}.instance_type", "Did you mean 'trn2.48xlarge'?"),
        (_TYPE, "Trn2.48xlarge", "UC4001", f"{_CLUSTER}.instance_type", "Did you mean 'trn2.48xlarge'?"),
        (_TYPE, "trn1n.32xlarge", "UC4104", f"{_CLUSTER}.capacity.market_type", "not sold as capacity-block"),
        (_TYPE, "trn1.2xlarge", "UC4104", f"{_CLUSTER}.capacity.market_type", "not sold as capacity-block"),
        (_TYPE, "inf2.48xlarge", "UC4104", f"{_CLUSTER}.capacity.market_type", "on-demand, spot"),
        ("nodes: 4", "nodes: 0", "UC4101", f"{_CLUSTER}.nodes", "got 0. Allowed: 1 to 1,000"),
        ("nodes: 4", "nodes: -4", "UC4101", f"{_CLUSTER}.nodes", "got -4"),
        ("nodes: 4", "nodes: 1001", "UC4101", f"{_CLUSTER}.nodes", "got 1001"),
        ("nodes: 4", "nodes: 65", "UC4102", f"{_CLUSTER}.nodes", "1 to 64"),
        ("nodes: 4", "nodes: 3", "UC4103", f"{_CLUSTER}.nodes", "powers of two"),
        (
            "          reservation_id: cr-0123456789abcdef0\n",
            "",
            "UC4108",
            f"{_CLUSTER}.capacity.reservation_id",
            "bought",
        ),
        ("cr-0", "cb-0", "UC4109", f"{_CLUSTER}.capacity.reservation_id", "an offering or a block"),
        ("cr-0", "cbr-0", "UC4109", f"{_CLUSTER}.capacity.reservation_id", "a Capacity Block ID"),
        (
            "cr-0123456789abcdef0",
            "cr-01234567",
            "UC4109",
            f"{_CLUSTER}.capacity.reservation_id",
            "8 hexadecimal",
        ),
        (
            "cr-0123456789abcdef0",
            "cr-0123456789ABCDEF0",
            "UC4109",
            f"{_CLUSTER}.capacity.reservation_id",
            "lower case",
        ),
        (
            "cr-0",
            "arn:aws:ec2:x:1:y/cr-0",
            "UC4109",
            f"{_CLUSTER}.capacity.reservation_id",
            "part of the ARN after the slash",
        ),
        ("ami-0123456789abcdef0", "latest", "UC4110", "defaults.image_id", "Pin the AMI"),
        ("ami-0123456789abcdef0", "ami-0123", "UC4110", "defaults.image_id", "17 hexadecimal"),
        (
            '"2026-12-01T12:00:00Z"',
            "2026-12-01",
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "Add the time and Z",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-12-01T12:00:00"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "Z at the end",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-12-01T12:00+02:00"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "Convert",
        ),
        (
            '"2026-12-01T12:00:00Z"',
            '"2026-02-30T12:00:00Z"',
            "UC4111",
            f"{_CLUSTER}.capacity.start",
            "does not exist",
        ),
        ('"2026-12-01T12:00:00Z"', "12:30:00", "UC1016", f"{_CLUSTER}.capacity.start", "in quotes"),
        ('"2026-12-01T12:00:00Z"', "20261201", "UC1022", f"{_CLUSTER}.capacity.start", "ISO 8601"),
        ("12-01T12:00:00Z", "12-04T11:30:00Z", "UC4112", f"{_CLUSTER}.capacity.end", "not after the start"),
        ("12-04T11:30:00Z", "12-04T12:30:00Z", "UC4113", f"{_CLUSTER}.capacity.end", "12:30:00 UTC"),
        ("2026-12-04T11", "2027-06-02T11", "UC4114", f"{_CLUSTER}.capacity.end", "got 183.0 days"),
        # File system
        ("4800", "1100", "UC5101", f"{_CLUSTER}.file_system.storage_capacity_gib", "got 1100"),
        ("4800", "-5", "UC5101", f"{_CLUSTER}.file_system.storage_capacity_gib", "got -5"),
        ("4800", "1300", "UC5003", f"{_CLUSTER}.file_system.storage_capacity_gib", "1200"),
        ("4800", "1200.5", "UC1022", f"{_CLUSTER}.file_system.storage_capacity_gib", "a whole number"),
        (
            "250",
            "333",
            "UC5002",
            f"{_CLUSTER}.file_system.per_unit_storage_throughput",
            "125, 250, 500, 1000",
        ),
        # Jobs
        (
            "image: 1",
            "nodes: 5\n            image: 1",
            "UC6101",
            f"{_JOB}.nodes",
            "got 5 nodes for a queue of 4",
        ),
        (
            "image: 1",
            "nodes: 0\n            image: 1",
            "UC6101",
            f"{_JOB}.nodes",
            "got 0. Allowed: 1 to 1,000",
        ),
        (
            "image: 1",
            "processes_per_node: 129\n            image: 1",
            "UC6103",
            f"{_JOB}.processes_per_node",
            "1 to 128",
        ),
        (
            "image: 1",
            "launcher: jax\n            processes_per_node: 2\n            image: 1",
            "UC6140",
            f"{_JOB}.processes_per_node",
            "got 2 processes on a node with the launcher jax",
        ),
        (
            "image: 1",
            "gates: {min_bandwidth: 0}\n            image: 1",
            "UC6151",
            f"{_JOB}.gates.min_bandwidth",
            "got 0. Allowed: 1 to 10,000",
        ),
        ("[train.py]", "[]", "UC6142", f"{_JOB}.command", "command is required: the launcher"),
        ("image: 1", "attempts: 11\n            image: 1", "UC6104", f"{_JOB}.attempts", "1 to 10"),
        (
            "image: 1",
            "timeout_hours: 4369\n            image: 1",
            "UC6104",
            f"{_JOB}.timeout_hours",
            "1 to 4,368",
        ),
        (
            "image: 1",
            "timeout_hours: 71\n            image: 1",
            "UC6105",
            f"{_JOB}.timeout_hours",
            "for 70.8 hours",
        ),
        ("/training", "/Training", "UC6106", f"{_JOB}.image", "a container image"),
        (":2026-11-20", ": 2026", "UC1005", "", "not valid YAML"),
        (":2026-11-20", ":latest", "UC6107", f"{_JOB}.image", "the tag latest"),
        (":2026-11-20", "", "UC6107", f"{_JOB}.image", "without a tag"),
        (
            "us-east-2.amazonaws",
            "us-west-2.amazonaws",
            "UC6108",
            f"{_JOB}.image",
            "the Amazon ECR of us-east-2",
        ),
        (
            _ENVIRONMENT,
            "{AWS_BATCH_JOB_ID: x}",
            "UC6109",
            f"{_JOB}.environment.AWS_BATCH_JOB_ID",
            "Batch sets",
        ),
        (_ENVIRONMENT, '{"a b": x}', "UC6109", f"{_JOB}.environment['a b']", "letters, digits and _"),
        (_ENVIRONMENT, "{LEVEL: 5}", "UC1022", f"{_JOB}.environment.LEVEL", 'Write it in quotes: "5"'),
        (_ENVIRONMENT, "{ROOT: '${HOME}'}", "UC1017", f"{_JOB}.environment.ROOT", "not expanded"),
        (
            "          - name: pretrain\n            image: 1",
            "          - image: 1",
            "UC1021",
            f"{_JOB}.name",
            "required",
        ),
    ],
)
def test_says_what_is_wrong_and_where(  # noqa: PLR0917 - one argument for each column of the table
    findings: Findings, old: str, new: str, code: str, path: str, part: str
) -> None:
    found = findings((old, new))

    matching = [finding for finding in found if finding.code == code]
    assert [finding.path for finding in matching] == [path], found
    assert part in str(matching[0])
    assert matching[0].location.startswith("rollout.yaml:")
