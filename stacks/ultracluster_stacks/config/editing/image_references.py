"""Read and replace the AMIs of the clusters of a rollout file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster_stacks.config.editing.raw_clusters import IMAGE_KEY, written_clusters
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.yaml_edit import set_values

__all__ = ["ClusterImage", "cluster_images", "with_images"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterImage:
    """The AMI of one cluster of a rollout file.

    Attributes:
        loc: Place of the cluster.
        cluster: Its name.
        region: Its Region.
        profile: Profile with which its account is reached. None for the credentials of the shell.
        instance_type: Name of its instance type.
        image_id: What it says now, of its own or by the defaults; empty when nothing does.
        inherited: Whether it has no AMI of its own, so that the defaults decide.
    """

    loc: Loc
    cluster: str
    region: str
    profile: str | None
    instance_type: str
    image_id: str
    inherited: bool


def cluster_images(path: str | os.PathLike[str]) -> list[ClusterImage]:
    """Read the AMIs of a rollout that is right in everything else: they may be missing or wrong.

    Args:
        path: The rollout file.

    Raises:
        FindingsError: With every other mistake of the file.
    """
    return [
        ClusterImage(
            loc=each.loc,
            cluster=str(each.merged["name"]),
            region=str(each.merged["region"]),
            profile=each.merged.get("profile"),
            instance_type=str(each.merged["instance_type"]),
            image_id=str(each.merged.get(IMAGE_KEY) or ""),
            inherited=IMAGE_KEY not in each.own,
        )
        for each in written_clusters(path)
    ]


def with_images(
    text: str, images: Sequence[ClusterImage], ids: Mapping[Loc, str], *, others: bool = False
) -> str:
    """Replace AMIs in the text of a rollout file; all other text stays unchanged.

    The id goes to the defaults when every cluster takes its AMI from there and all get the same; else to each cluster,
    since an AMI belongs to one Region, and one's own to one account.

    Args:
        text: The file.
        images: The clusters to write for, of those that `cluster_images` found in it.
        ids: The new id for the place of each cluster.
        others: Whether the file has more clusters, whose AMIs stay. Default: no.
    """
    new = {ids[image.loc] for image in images}
    if not others and len(new) == 1 and all(image.inherited and image.image_id for image in images):
        return set_values(text, {("defaults", IMAGE_KEY): new.pop()})
    return set_values(text, {(*image.loc, IMAGE_KEY): ids[image.loc] for image in images})
