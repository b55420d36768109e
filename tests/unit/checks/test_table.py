"""The table of rules."""

import pytest
from tests.unit.checks import (
    test_containers,
    test_costs,
    test_credentials,
    test_environments,
    test_file_systems,
    test_interfaces,
    test_jobs,
    test_landing,
    test_launches,
    test_life,
    test_policies,
    test_reach,
    test_roles,
    test_security_groups,
    test_settings,
    test_sizes,
    test_state,
    test_subnets,
    test_used_together,
    test_variables,
    test_whole_cluster,
)
from tests.unit.checks.defects import DEFECTS, Defect, with_defect

from ultracluster_checks import Source, check_templates
from ultracluster_checks.model.template import Templates
from ultracluster_checks.table import CHECKS, template_codes
from ultracluster_rules.registry import RULES


def test_a_rule_is_in_the_table_once() -> None:
    assert len(set(CHECKS)) == len(CHECKS)


def test_only_rules_for_templates_are_marked_as_never_left_out() -> None:
    never = {code for code, rule in RULES.items() if rule.never_left_out}

    assert never
    assert never <= template_codes()


REGION = "us-east-2"


RULE_TESTS = (
    test_containers,
    test_costs,
    test_credentials,
    test_environments,
    test_file_systems,
    test_interfaces,
    test_jobs,
    test_landing,
    test_launches,
    test_life,
    test_policies,
    test_reach,
    test_roles,
    test_security_groups,
    test_settings,
    test_sizes,
    test_state,
    test_subnets,
    test_used_together,
    test_variables,
    test_whole_cluster,
)


# What the rules say of the seeded defects in templates of other people; what is not here is for the schemas.
SEEDED = {
    "a trust policy without a principal": "UC6455",
    "a deletion policy that does not exist": "UC5201",
    "a Lustre deployment type that does not exist": "UC5001 UC5005",
    "an event of an association that does not exist": "UC5026",
    "eleven attempts of a job": "UC6104",
    "a job that times out after 30 seconds": "UC6104",
    "no rule for EFA out of the group": "UC3201",
    "EFA let in by addresses": "UC3201",
    "EFA let out as TCP only": "UC3201",
    "a device index beyond the card of trn1": "UC4012",
    "a network card that the type has not": "UC4011 UC4016",
    "a primary interface without an address": "UC4010",
    "half of the EFA interfaces": "UC4016",
    "EFA on a type without EFA": "UC4011 UC4015 UC6402 UC6407",
    "two EFA interfaces on a card": "UC4014 UC4016",
    "a block in a placement group of its template": "UC4020",
    "a block with options of Spot": "UC4202",
    "a market type without a target": "UC4201",
    "an offering where a reservation belongs": "UC4109",
    "a block of a type that is not sold in blocks": "UC4016 UC4104 UC6403",
    "fewer vCPUs than a node has": "UC4212 UC6101",
    "more vCPUs at least than at most": "UC4211 UC4214",
    "the latest launch template, whatever that is": "UC4216",
    "BEST_FIT over several types": "UC4016 UC4217",
    "EFA nodes in two subnets": "UC3204",
    "a subnet that gives nodes public addresses": "UC3202",
    "interfaces that outlive their node": "UC3203",
    "user data that Batch cannot merge": "UC4208",
    "user data of 20 KiB": "UC4209",
    "security groups beside interfaces": "UC3205",
    "a subnet with too few addresses": "UC3002",
    "a gap in the node ranges": "UC6404",
    "a main node that is not there": "UC6404",
    "a job of more nodes than there are": "UC6101",
    "one Neuron device too few": "UC6402",
    "one EFA device too few": "UC6403",
    "a Neuron device that the type has not": "UC6402",
    "memory that cannot be registered": "UC6406",
    "an image that moves": "UC6107",
    "more vCPUs than a node has": "UC6407",
    "all the memory of a node": "UC6407",
    "GPUs of Trainium": "UC6407",
    "two addresses of the compile cache": "UC6010",
    "an image that each deployment resolves anew": "UC4206",
    "an image that each launch resolves anew": "UC4206",
    "EFA without a metadata configuration": "UC3201 UC5005",
    "a size between the steps": "UC5003",
    "a size between the steps of EFA": "UC3201 UC5003",
    "scratch with a throughput": "UC5002",
    "PERSISTENT_2 with an import path": "UC5202",
    "metadata IOPS that are not sold": "UC5006",
    "a folder of an association inside another": "UC5023",
    "a folder that does not begin at the root": "UC5022",
    "Lustre let in on one of its ports": "UC5203",
    "multi-node jobs on Spot only": "UC6308",
    "SSH from everywhere": "UC3206",
    "Lustre from everywhere": "UC3206",
    "no options for instance metadata": "UC4207",
    "a disk that is not encrypted": "UC5204",
    "every action": "UC6420 UC6423",
    "every action of S3": "UC6420",
    "every role to pass on": "UC6423",
    "everything but": "UC6420",
    "an administrator": "UC6422",
    "a function that buys capacity": "UC6425",
    "a job that may buy extensions": "UC6425",
    "a token in user data": "UC6409",
    "a password in the environment of a function": "UC6409",
    "a secret as a parameter with a default": "UC6409",
    "a privileged container": "UC6410",
    "the whole disk of the node in a container": "UC6410",
    "a bucket that is to be deleted": "UC5201",
    "a file system that goes with its stack": "UC5201",
    "deletions that reach S3": "UC5208",
    "an environment that every update replaces": "UC4219",
    "an environment whose name blocks its replacement": "UC4218",
    "checkpoints on scratch": "UC5014",
}


_SEEDED_HERE = [defect for defect in DEFECTS if "/" not in defect.base]


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(foreign: dict[str, Source], name: str) -> None:
    assert check_templates([foreign[name]]).findings == ()


@pytest.mark.parametrize("defect", _SEEDED_HERE, ids=lambda defect: defect.name)
def test_a_seeded_defect_breaks_the_rules_that_it_is_about(
    foreign: dict[str, Source], defect: Defect
) -> None:
    body = with_defect(dict(foreign[defect.base].body), defect)
    templates = Templates([Source(name="", body=body, region=REGION)])
    found = {problem.finding.code for check in CHECKS for problem in check(templates)}

    assert sorted(found) == SEEDED.get(defect.name, "").split()


def test_every_rule_is_broken_by_some_edit() -> None:
    broken = {code for codes in SEEDED.values() for code in codes.split()}
    broken |= {code for tests in RULE_TESTS for code, *_ in tests.BROKEN}

    assert broken == template_codes()
