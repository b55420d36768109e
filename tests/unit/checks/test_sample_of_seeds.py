"""A sample of the seeds of tests/deep/template_defects, which that folder judges all of."""

import pytest
from tests.deep.template_defects.table import found, newly_found, seeds, variants

# Of each kind of mistake some, which different rules find.
SEEDS = (
    "v-compute-spot",
    "v-node-role-as-profile",
    "v-provider-name-typo",
    "v-secret-in-environment",
    "v-small-job-shares-node",
    "v-warning-source-autoscaling",
    "w-efa-no-self-ingress",
    "w-no-scale-in",
    "w-nodes-more-than-range",
    "w-nothing-ends-the-jobs",
    "w-one-interface-only",
    "w-queue-other-environment",
    "w-reservation-unlimited",
    "w-ultra-both-targets",
)
VARIANTS = (
    "v-compute-best-fit",
    "v-compute-tags",
    "v-log-prefix-other",
    "v-template-metadata-hop-one-more",
    "w-interfaces-all-efa",
    "w-odcr-cores-in-profile",
    "w-odcr-link-slash",
)


@pytest.mark.parametrize("name", SEEDS)
def test_a_mistake_is_found_at_a_resource_that_is_at_fault(name: str) -> None:
    (seed,) = (each for each in seeds() if each.id == name)

    assert {path.split(".")[0] for _, path in found(seed)} & {*seed.about}


@pytest.mark.parametrize("name", VARIANTS)
def test_an_equivalent_form_has_no_new_finding(name: str) -> None:
    (variant,) = (each for each in variants() if each.id == name)

    assert not newly_found(variant)
