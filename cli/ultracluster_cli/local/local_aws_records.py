"""Records of what the local AWS refuses: its distribution imports nothing of this one."""

from typing import Final

from ultracluster_spec.record import RuleRecord

RECORDS: Final = (
    RuleRecord(
        "UC8001",
        "The local AWS is used only through a loopback address.",
        remedy="Unset AWS_ENDPOINT_URL, or start the local AWS and use the address that it prints.",
        source="Our decision: what believes that it talks to fakes must not reach another machine.",
    ),
    RuleRecord(
        "UC8002",
        "A process runs at most one local AWS, since moto keeps its state in modules.",
        remedy="Stop the first one, or use it: the fixture `local_aws` shares one for you.",
        source="moto 5.2.5: its state is in modules, so two would be one.",
    ),
    RuleRecord(
        "UC8003",
        "The port of the local AWS is free.",
        remedy="Choose another port, or 0 for a free one.",
        source="Our decision: the local AWS never takes an address over.",
    ),
    RuleRecord(
        "UC8005",
        "A directory has at most one local AWS in the background.",
        remedy="Use the one that runs (`ultracluster local env`), or stop it with `ultracluster local down`.",
        source="Our decision: a folder has one local AWS, which its commands find.",
    ),
    RuleRecord(
        "UC8006",
        "The local AWS in the background responds.",
        remedy="Start one with `ultracluster local up`; if it did not start, see the log that the finding names.",
        source="Our decision: nothing is started behind your back.",
    ),
    RuleRecord(
        "UC8007",
        "A cloud assembly contains only what the local AWS can deploy.",
        remedy="Synthesize it with `cdk synth`, and see `ultracluster docs local-aws` for what the local AWS can deploy.",
        source="Our decision: the local AWS refuses what it cannot do instead of pretending.",
    ),
)
