"""Descriptions of settings, read from the docstrings below them."""

from ultracluster_spec.values import sentences
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.queue import AdditionalQueueConfig


class Sizes(ConfigModel):
    """Sizes of something."""

    nodes: int
    """Number of nodes,
    on two lines."""

    hidden: int = 0
    shown: int = 1
    """Shown."""


def test_a_description_is_the_text_below_a_field_on_one_line() -> None:
    assert sentences(Sizes) == {"nodes": "Number of nodes, on two lines.", "shown": "Shown."}


def test_a_model_describes_the_fields_that_it_inherits_first() -> None:
    assert list(sentences(AdditionalQueueConfig)) == list(AdditionalQueueConfig.model_fields)


def test_each_setting_of_a_cluster_is_described_in_a_sentence() -> None:
    descriptions = sentences(ClusterConfig)
    assert descriptions.keys() == ClusterConfig.model_fields.keys()
    assert all(text.endswith(".") for text in descriptions.values())
