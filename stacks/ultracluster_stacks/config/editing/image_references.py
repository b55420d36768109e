"""Read and replace the AMIs of the clusters of a rollout file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster_stacks.config.editing.raw_clusters import IMAGE_KEY, validated_clusters
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.yaml_edit import set_values


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterImage:
    """The AMI of one cluster of a rollout file, empty if there is none; `inherited` if it comes from `defaults`."""

    loc: Loc
    cluster: str
    region: str
    profile: str | None
    instance_type: str
    image_id: str
    inherited: bool


def cluster_images(path: str | os.PathLike[str]) -> list[ClusterImage]:
    """Read the AMIs of a rollout, which may be missing or invalid; everything else must be valid."""
    return [
        ClusterImage(
            loc=cluster.loc,
            cluster=str(cluster.merged["name"]),
            region=str(cluster.merged["region"]),
            profile=cluster.merged.get("profile"),
            instance_type=str(cluster.merged["instance_type"]),
            image_id=str(cluster.merged.get(IMAGE_KEY) or ""),
            inherited=IMAGE_KEY not in cluster.own,
        )
        for cluster in validated_clusters(path)
    ]


def with_images(
    text: str, images: Sequence[ClusterImage], ids: Mapping[Loc, str], *, others: bool = False
) -> str:
    """Replace AMIs in the text of a rollout file, by the location of each cluster, preserving all other text.

    The AMI is set in `defaults` if all clusters inherit it and get the same one; otherwise in each cluster, since AMIs
    are specific to a Region, and custom ones to an account. `others` are clusters whose AMIs do not change.
    """
    new = {ids[image.loc] for image in images}
    if not others and len(new) == 1 and all(image.inherited and image.image_id for image in images):
        return set_values(text, {("defaults", IMAGE_KEY): new.pop()})
    return set_values(text, {(*image.loc, IMAGE_KEY): ids[image.loc] for image in images})
