"""Mistakes in a rollout, each with its code, its place and what the message says."""

from collections.abc import Callable

import pytest

from ultracluster_catalog.findings import Finding, FindingsError, Severity
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]

_TYPE = "trn2.48xlarge"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")
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
        ("version: 1\n", "", "UC1021", "version", "version is required and it is not given"),
        ("version: 1", "version: 2", "UC1023", "version", "got 2. Allowed: 1"),
        ("region: us-east-2", "region:", "UC1021", f"{_CLUSTER}.region", "required and it has no value"),
        ("nodes: 4", "nodes: ~", "UC1021", f"{_CLUSTER}.nodes", "required and it has no value"),
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
        ("capacity-block", "spot", "UC1023", f"{_CLUSTER}.capacity.market_type", "capacity-block, on-demand"),
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
        ("name: train", "name: " + "x" * 33, "UC2101", f"{_CLUSTER}.name", "2 to 32 characters"),
        ("name: train", "name: -a", "UC2101", f"{_CLUSTER}.name", "a letter first"),
        ("name: train", "name: 1a", "UC2101", f"{_CLUSTER}.name", "a letter first"),
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
        ("team: r", '"aws:x": r', "UC2107", "defaults.tags['aws:x']", "not aws: first"),
        ("team: r", '"AWS:x": r', "UC2107", "defaults.tags['AWS:x']", "not aws: first"),
        ("team: r", "k" * 129 + ": r", "UC2107", "defaults.tags." + "k" * 129, "1 to 128"),
        ("team: r", '"": r', "UC2107", "defaults.tags['']", "1 to 128"),
        ("team: research", "team: " + "v" * 257, "UC2107", "defaults.tags.team", "at most 256"),
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
        ("cr-0", "cb-0", "UC4109", f"{_CLUSTER}.capacity.reservation_id", "an offering (a quote)"),
        ("cr-0", "cbr-0", "UC4109", f"{_CLUSTER}.capacity.reservation_id", "the id of a Capacity Block"),
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
            "last part of the ARN",
        ),
        ("ami-0123456789abcdef0", "latest", "UC4110", "defaults.image_id", "pinned"),
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
            "no such day",
        ),
        ('"2026-12-01T12:00:00Z"', "12:30:00", "UC1016", f"{_CLUSTER}.capacity.start", "in quotes"),
        ('"2026-12-01T12:00:00Z"', "20261201", "UC1022", f"{_CLUSTER}.capacity.start", "ISO 8601"),
        ("12-01T12:00:00Z", "12-04T11:30:00Z", "UC4112", f"{_CLUSTER}.capacity.end", "not after the start"),
        ("12-04T11:30:00Z", "12-04T12:30:00Z", "UC4113", f"{_CLUSTER}.capacity.end", "12:30:00 UTC"),
        ("2026-12-04T11", "2027-06-02T11", "UC4114", f"{_CLUSTER}.capacity.end", "got 182 days"),
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
            "got 5 nodes, but the cluster has 4",
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
        (_ENVIRONMENT, "{ROOT: '${HOME}'}", "UC1017", f"{_JOB}.environment.ROOT", "passed on as it is"),
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


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("nodes: 4", "nodes: 64")], "UC4102"),
        ([("nodes: 4", "nodes: 1")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 3")], "UC4103"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 1000")], "UC4101"),
        ([_ON_DEMAND, ("nodes: 4", "nodes: 65")], "UC4102"),
        ([_ON_DEMAND], "UC4108"),
        ([_ON_DEMAND, ("12-04T11:30", "12-04T12:30")], "UC4113"),
        ([_ON_DEMAND, (_TYPE, "inf2.48xlarge"), ("nodes: 4", "nodes: 1")], "UC4104"),
        ([(_TYPE, "trn1.32xlarge")], "UC4104"),
        ([("2026-12-04T11", "2027-06-01T11")], "UC4114"),
        ([("12-01T12:00:00Z", "12-04T11:29:59Z")], "UC4112"),
        ([('"2026-12-01T12:00:00Z"', '"2026-12-01T12:00Z"')], "UC4111"),
        ([('"2026-12-01T12:00:00Z"', "2026-12-01T12:00:00Z")], "UC1022"),
        ([("ami-0123456789abcdef0", "ami-01234567")], "UC4110"),
        ([("name: train", "name: " + "x" * 32)], "UC2101"),
        ([("name: train", "name: x-")], "UC2101"),
        ([("team: r", "k" * 128 + ": r")], "UC2107"),
        ([("team: research", "team: " + "v" * 256)], "UC2107"),
        ([("team: research", ",".join(f"k{n}: v" for n in range(40)))], "UC2107"),
        ([("team: research", "'caf\u00e9 + a-b=c.d_e:/@': '\u6771\u4eac'")], "UC2107"),
        ([("nodes:", 'account: "012345678901"\n        nodes:')], "UC2104"),
        ([("nodes:", "account: null\n        nodes:")], "UC1022"),
        ([("10.0.0.0/16", "10.0.0.0/24")], "UC3105"),
        ([("10.0.0.0/16", "10.0.0.0/18, subnet_prefix: 18")], "UC3105"),
        ([("10.0.0.0/16", "192.168.0.0/16")], "UC3104"),
        ([("10.0.0.0/16", "172.16.0.0/16")], "UC3104"),
        ([("4800", "1200")], "UC5101"),
        ([("4800", "7200")], "UC5003"),
        ([("image: 1", "nodes: 4\n            image: 1")], "UC6101"),
        ([("image: 1", "processes_per_node: 128\n            image: 1")], "UC6103"),
        ([("image: 1", "attempts: 10\n            image: 1")], "UC6104"),
        ([("image: 1", "timeout_hours: 70\n            image: 1")], "UC6105"),
        ([_ON_DEMAND, ("image: 1", "timeout_hours: 71\n            image: 1")], "UC6105"),
        ([(":2026-11-20", "@sha256:" + "0" * 64)], "UC6107"),
        ([(_ENVIRONMENT, "{A: '', _b: 'x y'}")], "UC6109"),
    ],
)
def test_takes_the_other_side_of_the_boundary(
    findings: Findings, edits: list[tuple[str, str]], code: str
) -> None:
    found = findings(*edits)

    assert code not in {finding.code for finding in found}
    assert not [finding for finding in found if finding.severity is Severity.ERROR], found


def test_warns_of_a_zone_where_the_type_is_not_known_to_be_offered(findings: Findings) -> None:
    trn1 = (_TYPE, "trn1.32xlarge")

    assert findings(_ON_DEMAND, trn1) == []
    assert [finding.code for finding in findings(_ON_DEMAND, trn1, ("use2-az3", "use2-az1"))] == ["UC4106"]


def test_warns_of_a_region_where_blocks_are_not_known_to_be_sold(findings: Findings) -> None:
    elsewhere = [("us-east-2\n", "eu-west-1\n"), ("use2-az3", "euw1-az1"), ("us-east-2.ama", "eu-west-1.ama")]

    assert [finding.code for finding in findings(*elsewhere)] == ["UC4107"]
    seen = [("us-east-2\n", "ap-south-2\n"), ("use2-az3", "aps2-az2"), ("us-east-2.ama", "ap-south-2.ama")]
    assert findings(*seen) == []


def test_warns_of_a_partition_that_was_never_tested(findings: Findings) -> None:
    china = [("us-east-2\n", "cn-north-1\n"), ("use2-az3", "cnn1-az1"), ("us-east-2.ama", "cn-north-1.ama")]

    assert [finding.code for finding in findings(*china, _ON_DEMAND)] == ["UC2103"]


def test_one_block_holds_one_ultraserver(findings: Findings) -> None:
    ultraserver = (_TYPE, "trn2u.48xlarge")

    assert findings(ultraserver) == []
    assert [finding.code for finding in findings(ultraserver, ("nodes: 4", "nodes: 5"))] == ["UC4105"]


def test_a_type_without_blocks_is_refused_once(findings: Findings) -> None:
    assert [finding.code for finding in findings((_TYPE, "trn1n.32xlarge"))] == ["UC4104"]


def test_a_subnet_may_be_full_to_the_last_address(findings: Findings) -> None:
    # 57 x (1 + 1) + 9 endpoints + 128 for the file system + 5 of AWS = 256
    small = ("10.0.0.0/16", "10.0.0.0/24")

    assert findings(_ON_DEMAND, small, ("nodes: 4", "nodes: 57")) == []
    assert [each.code for each in findings(_ON_DEMAND, small, ("nodes: 4", "nodes: 58"))] == ["UC3105"]


def test_processes_on_gpus_are_not_counted_in_neuroncores(findings: Findings) -> None:
    assert findings((_TYPE, "p5.48xlarge"), ("image: 1", "processes_per_node: 8\n            image: 1")) == []


def test_a_key_that_stands_twice_is_shown_where_it_stands_again(findings: Findings) -> None:
    (finding,) = findings(("nodes: 4\n", "nodes: 4\n        nodes: 8\n"))

    assert str(finding) == (
        "UC1012: rollout.yaml:13: waves[0].clusters[0].nodes: the key 'nodes' stands twice, in lines 12 and 13. "
        "Allowed: each key once. Keep one of them."
    )


def test_a_job_over_several_nodes_needs_efa(findings: Findings) -> None:
    without_efa = [_ON_DEMAND, (_TYPE, "trn1.2xlarge")]

    assert [finding.code for finding in findings(*without_efa)] == ["UC6102"]
    assert findings(*without_efa, ("image: 1", "nodes: 1\n            image: 1")) == []


def test_the_layout_decides_how_many_addresses_nodes_take(findings: Findings) -> None:
    edits = [("nodes: 4", "nodes: 64"), ("10.0.0.0/16", "10.0.0.0/22")]

    assert findings(*edits) == []
    (finding,) = findings(*edits, ("{cidr", "{nic_layout: all-efa, cidr"))
    assert finding.code == "UC3105"
    # 64 x (16 + 1) + 9 endpoints + 128 for the file system + 5 of AWS
    assert "1,230 addresses, but a /22 has 1,024. Use /21" in str(finding)


_SECOND = """\
      - name: other
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        capacity: {reservation_id: cr-fedcba98765432100}
"""


def test_a_cluster_is_defined_once_in_a_region(findings: Findings, valid: str) -> None:
    assert findings(text=valid + _SECOND) == []
    (finding,) = findings(text=valid + _SECOND.replace("other", "train"))
    assert (finding.code, finding.path) == ("UC2105", "waves[0].clusters[1].name")
    assert "duplicate cluster 'train' in us-east-2, also in waves[0].clusters[0]" in str(finding)

    in_another_account = _SECOND.replace("other", "train").replace(
        "nodes:", 'account: "111122223333"\n        nodes:'
    )
    assert [finding.code for finding in findings(text=valid + in_another_account)] == ["UC2105"]


def test_a_cluster_may_have_the_same_name_in_another_region(findings: Findings, valid: str) -> None:
    melbourne = (
        _SECOND.replace("other", "train")
        .replace("us-east-2", "ap-southeast-4")
        .replace("use2-az3", "apse4-az1")
    )
    melbourne = melbourne.replace("trn2.48", "trn1.32") + "        image_id: ami-fedcba98765432100\n"

    assert findings(text=valid + melbourne) == []


def test_an_ami_exists_in_one_region(findings: Findings, valid: str) -> None:
    other = _SECOND.replace("us-east-2", "ap-south-2").replace("use2-az3", "aps2-az1")

    (finding,) = findings(text=valid + other)
    assert (finding.code, finding.path) == ("UC4115", "defaults.image_id")
    assert "ami-0123456789abcdef0 is given for ap-south-2 and for us-east-2" in str(finding)


def test_a_reservation_exists_in_one_zone_and_for_one_type(findings: Findings, valid: str) -> None:
    shared = _SECOND.replace("cr-fedcba98765432100", "cr-0123456789abcdef0")

    assert findings(text=valid + shared) == []
    (finding,) = findings(text=valid + shared.replace("use2-az3", "use2-az1"))
    assert (finding.code, finding.path) == ("UC4115", "waves[0].clusters[1].capacity.reservation_id")


def test_a_wave_and_a_job_are_named_once(findings: Findings, valid: str) -> None:
    again = valid.split("waves:\n")[1].replace("name: train", "name: other")
    assert [str(finding) for finding in findings(text=valid + again)] == [
        "UC2106: rollout.yaml:25: waves[1].name: a second wave is called 'first'."
    ]

    job = valid[valid.index("          - name: pretrain") :]
    assert [str(finding) for finding in findings(text=valid + job)] == [
        "UC6110: rollout.yaml:25: waves[0].clusters[0].jobs[1].name: a second job is called 'pretrain'."
    ]


def test_a_list_that_must_hold_something_is_not_empty(findings: Findings, valid: str) -> None:
    assert [str(finding) for finding in findings(text="version: 1\nwaves: []\n")] == [
        "UC1024: rollout.yaml:2: waves: the list is empty. Allowed: at least one item."
    ]
    head = valid.partition("    clusters:")[0]
    (finding,) = findings(text=head + "    clusters: []\n")
    assert (finding.code, finding.path) == ("UC1024", "waves[0].clusters")


def test_a_list_of_wrong_items_is_not_called_empty(findings: Findings) -> None:
    found = findings(("region: us-east-2", "region: nowhere"))

    assert [finding.code for finding in found] == ["UC2102"]


def test_shows_all_problems_at_once_in_file_order(findings: Findings) -> None:
    found = findings(
        ("version: 1", "version: 3"),
        ("team: research", "team: no"),
        ("name: train", "name: X"),
        ("nodes: 4", "nodes: 128"),
        ("12-04T11", "11-04T11"),
        ("{cidr", "{cdir: x, cidr"),
        ("250", "333"),
        (":2026-11-20", ":latest"),
        ("{NEURON_RT_LOG_LEVEL", "{AWS_BATCH_X: a, 5: a, NEURON_RT_LOG_LEVEL"),
    )

    assert [(finding.code, finding.location) for finding in found] == [
        ("UC1023", "rollout.yaml:1"),
        ("UC1015", "rollout.yaml:4"),
        ("UC2101", "rollout.yaml:8"),
        ("UC4102", "rollout.yaml:12"),
        ("UC4112", "rollout.yaml:17"),
        ("UC1020", "rollout.yaml:18"),
        ("UC5002", "rollout.yaml:19"),
        ("UC6107", "rollout.yaml:22"),
        ("UC1011", "rollout.yaml:24"),
        ("UC6109", "rollout.yaml:24"),
    ]


def test_an_item_that_cannot_be_read_does_not_shift_the_place_of_the_next(findings: Findings) -> None:
    found = findings(("jobs:\n", "jobs:\n          - 5\n"), (":2026-11-20", ":latest"))

    assert [(finding.code, finding.path) for finding in found] == [
        ("UC1022", f"{_CLUSTER}.jobs[0]"),
        ("UC6107", f"{_CLUSTER}.jobs[1].image"),
    ]


def test_never_shows_a_credential(findings: Findings) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"

    for old, new in [
        ("name: train", f"name: {secret}"),
        ("name: train", f"{secret}: train"),
        ("{team: research}", f'{{"{secret}": x}}'),
        ("10.0.0.0/16", f'"{secret}"'),
        ("nodes: 4", f"nodes: &{secret} 4"),
        ("nodes: 4", f"nodes: !{secret} 4"),
    ]:
        found = findings((old, new))
        assert found
        assert secret not in "\n".join(map(str, found))
        assert secret not in repr(found)


def test_raises_no_warning_alone(load: Callable[..., LoadedRollout]) -> None:
    assert [finding.code for finding in load((":2026-11-20", ":latest")).warnings] == ["UC6107"]
    with pytest.raises(FindingsError) as caught:
        load((":2026-11-20", ":latest"), ("nodes: 4", "nodes: 0"))
    assert [finding.code for finding in caught.value.findings] == ["UC4101", "UC6107"]
