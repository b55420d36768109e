"""Commands that edit a rollout file load it without what they fill in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config.editing import load_editable

Write = Callable[[str | bytes], Path]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("image_id: ami-0123456789abcdef0", "image_id: latest"),
        ("reservation_id: cr-0123456789abcdef0", "order: december"),
    ],
)
def test_images_and_unresolved_orders_do_not_count_as_mistakes(
    write: Write, valid: str, old: str, new: str
) -> None:
    (cluster,) = load_editable(write(valid.replace(old, new))).clusters()

    assert (cluster.name, cluster.nodes) == ("train", 4)


def test_every_other_mistake_is_reported_without_them(write: Write, valid: str) -> None:
    text = valid.replace("image_id: ami-0123456789abcdef0", "image_id: latest").replace(
        "nodes: 4", "nodes: 0"
    )

    with pytest.raises(FindingsError) as refused:
        load_editable(write(text))

    assert [finding.code for finding in refused.value.findings] == ["UC4101"]
