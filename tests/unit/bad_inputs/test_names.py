"""Rows 26 to 39: identity, names and limits."""

from collections.abc import Callable

import pytest
from tests.unit.bad_inputs.rows import ON_DEMAND, Row, cluster, refused, taken

ROWS = [
    refused(26, "the name a/b", [("name: train\n", "name: a/b\n")], "UC2101 8 @.name"),
    refused(26, "the name ../x", [("name: train\n", "name: ../x\n")], "UC2101 8 @.name"),
    refused(
        26,
        'the name "\\\\u00fcn\\\\u00ef"',
        [("name: train\n", 'name: "\\u00fcn\\u00ef"\n')],
        "UC2101 8 @.name",
    ),
    refused(26, 'the name ""', [("name: train\n", 'name: ""\n')], "UC2101 8 @.name"),
    refused(
        26,
        "the name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        [
            (
                "name: train\n",
                "name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
            )
        ],
        "UC2101 8 @.name",
    ),
    refused(26, "the name -a", [("name: train\n", "name: -a\n")], "UC2101 8 @.name"),
    refused(26, "the name 1a", [("name: train\n", "name: 1a\n")], "UC2101 8 @.name"),
    refused(26, "the name Train", [("name: train\n", "name: Train\n")], "UC2101 8 @.name"),
    taken(
        27,
        "a name of 32 letters, which fits everywhere",
        [("name: train\n", "name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")],
    ),
    refused(
        27,
        "a name of 33 letters",
        [("name: train\n", "name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")],
        "UC2101 8 @.name",
    ),
    refused(
        27,
        "a bucket name of 64 letters",
        [
            cluster(
                "checkpoints: {bucket_name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}"
            )
        ],
        "UC5110 13 @.checkpoints.bucket_name",
    ),
    refused(
        28, "the Region us-east-9", [("region: us-east-2\n", "region: us-east-9\n")], "UC2102 9 @.region"
    ),
    refused(
        28, "the Region US-EAST-2", [("region: us-east-2\n", "region: US-EAST-2\n")], "UC2102 9 @.region"
    ),
    refused(
        28,
        'the Region " us-east-2"',
        [("region: us-east-2\n", 'region: " us-east-2"\n')],
        "UC2102 9 @.region",
    ),
    refused(
        28,
        "the Region 'us-east-2; rm -rf'",
        [("region: us-east-2\n", "region: 'us-east-2; rm -rf'\n")],
        "UC2102 9 @.region",
    ),
    taken(
        29,
        "the Region cn-north-1",
        [
            ON_DEMAND,
            ("region: us-east-2\n", "region: cn-north-1\n"),
            ("use2-az3", "cnn1-az1"),
            ("us-east-2.ama", "cn-north-1.ama"),
        ],
        "UC2103 9 @.region",
    ),
    taken(
        29,
        "the Region us-gov-west-1",
        [
            ON_DEMAND,
            ("region: us-east-2\n", "region: us-gov-west-1\n"),
            ("use2-az3", "usgw1-az1"),
            ("us-east-2.ama", "us-gov-west-1.ama"),
        ],
        "UC2103 9 @.region",
    ),
    taken(
        29,
        "the Region us-iso-east-1",
        [
            ON_DEMAND,
            ("region: us-east-2\n", "region: us-iso-east-1\n"),
            ("use2-az3", "usie1-az1"),
            ("us-east-2.ama", "us-iso-east-1.ama"),
        ],
        "UC2103 9 @.region",
    ),
    refused(31, "the zone usw2-az4", [("use2-az3", "usw2-az4")], "UC3102 10 @.zone_id"),
    refused(31, "the zone us-west-2d", [("use2-az3", "us-west-2d")], "UC3101 10 @.zone_id"),
    refused(31, "the zone junk", [("use2-az3", "junk")], "UC3101 10 @.zone_id"),
    taken(31, "the zone use2-az9", [("use2-az3", "use2-az9")]),
    refused(32, "a zone by its name", [("use2-az3", "us-east-2a")], "UC3101 10 @.zone_id"),
    refused(36, "a tag of AWS", [("team: r", '"aws:x": r')], "UC2107 4 defaults.tags['aws:x']"),
    refused(
        36,
        "a key of 129 characters",
        [
            (
                "team: r",
                "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: r",
            )
        ],
        "UC2107 4 defaults.tags.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
    ),
    refused(
        36,
        "a value of 257 characters",
        [
            (
                "team: research",
                "team: vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv",
            )
        ],
        "UC2107 4 defaults.tags.team",
    ),
    refused(
        36,
        "51 tags",
        [
            (
                "team: research",
                "k0: v, k1: v, k2: v, k3: v, k4: v, k5: v, k6: v, k7: v, k8: v, k9: v, k10: v, k11: v, k12: v, k13: v, k14: v, k15: v, k16: v, k17: v, k18: v, k19: v, k20: v, k21: v, k22: v, k23: v, k24: v, k25: v, k26: v, k27: v, k28: v, k29: v, k30: v, k31: v, k32: v, k33: v, k34: v, k35: v, k36: v, k37: v, k38: v, k39: v, k40: v, k41: v, k42: v, k43: v, k44: v, k45: v, k46: v, k47: v, k48: v, k49: v, k50: v",
            )
        ],
        "UC2107 4 defaults.tags",
    ),
    refused(
        37,
        "a cluster twice in a wave",
        [
            (
                "  - name: first\n    clusters:\n",
                "  - name: first\n    clusters:\n      - name: train\n        region: us-east-2\n        zone_id: use2-az3\n        instance_type: trn2.48xlarge\n        nodes: 4\n        capacity: {market_type: on-demand}\n",
            )
        ],
        "UC2105 14 waves[0].clusters[1].name",
    ),
    refused(
        38, "an address that is none", [cluster("alarms: {emails: [jane]}")], "UC6446 13 @.alarms.emails[0]"
    ),
    taken(38, "alarms that nobody gets", [("        notify: [ml@example.com]\n", "")], "UC6448 8 @.notify"),
    taken(38, "a budget that nobody gets", [cluster("budget: {monthly_usd: 5}")], "UC2250 13 @.budget"),
    refused(
        39,
        "an access key in the environment",
        [("{NEURON_RT_LOG_LEVEL: INFO}", "{KEY: AKIAIOSFODNN7EXAMPLE}")],
        "UC2108 24 @.jobs[0].environment.KEY",
    ),
    refused(
        39,
        "a token by its name",
        [("{NEURON_RT_LOG_LEVEL: INFO}", "{WANDB_API_KEY: abc}")],
        "UC2108 24 @.jobs[0].environment.WANDB_API_KEY",
    ),
    refused(
        39,
        "a password by its name and value",
        [("{NEURON_RT_LOG_LEVEL: INFO}", "{DB_PASS: Tr41n-2026}")],
        "UC2108 24 @.jobs[0].environment.DB_PASS",
    ),
    refused(
        39,
        "a token by its name and value",
        [("{NEURON_RT_LOG_LEVEL: INFO}", "{MY_TOKEN: a8Kd02mNq71xPz}")],
        "UC2108 24 @.jobs[0].environment.MY_TOKEN",
    ),
    refused(
        39,
        "a password in a URL",
        [("{NEURON_RT_LOG_LEVEL: INFO}", '{DATABASE_URL: "postgres://train:Tr41n-2026@db:5432/runs"}')],
        "UC2108 24 @.jobs[0].environment.DATABASE_URL",
    ),
    refused(
        39,
        "a password in a command",
        [("[train.py]", '[train.py, "--db-password", "Tr41n-2026x"]')],
        "UC2108 23 @.jobs[0].command",
    ),
    refused(
        39,
        "a private key in a command",
        [("[train.py]", '[train.py, "-----BEGIN RSA PRIVATE KEY-----"]')],
        "UC2108 23 @.jobs[0].command[1]",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[[str | bytes], tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text) == (row.exit_code, row.reaction)
