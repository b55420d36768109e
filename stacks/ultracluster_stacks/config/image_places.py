"""Where a rollout file says which AMI each cluster uses, and writing other ids there."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster_catalog.findings import FindingsError, Severity
from ultracluster_stacks.config.defaults import cluster_locs, with_defaults
from ultracluster_stacks.config.environment import refuse_environment
from ultracluster_stacks.config.loader import load_rollout
from ultracluster_stacks.config.problem import Loc
from ultracluster_stacks.config.yaml_edit import set_values
from ultracluster_stacks.config.yaml_source import read_yaml

__all__ = ["ClusterImage", "cluster_images", "with_images"]

_KEY = "image_id"


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
    refuse_environment(path)
    try:
        load_rollout(path)
    except FindingsError as error:
        # An order that is not resolved yet needs no other AMI.
        others = [one for one in error.findings if not _is_about_images(one.path) and one.code != "UC2220"]
        if any(one.severity is Severity.ERROR for one in others):
            raise FindingsError(others) from None
    values = read_yaml(path).values
    merged = with_defaults(values)
    found = []
    for loc in cluster_locs(values):
        own, cluster = _at(values, loc), _at(merged, loc)
        found.append(
            ClusterImage(
                loc=loc,
                cluster=str(cluster["name"]),
                region=str(cluster["region"]),
                profile=cluster.get("profile"),
                instance_type=str(cluster["instance_type"]),
                image_id=str(cluster.get(_KEY) or ""),
                inherited=_KEY not in own,
            )
        )
    return found


def with_images(
    text: str, images: Sequence[ClusterImage], ids: Mapping[Loc, str], *, others: bool = False
) -> str:
    """Give the text of a rollout file with other AMIs; all else stays as its author wrote it.

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
        return set_values(text, {("defaults", _KEY): new.pop()})
    return set_values(text, {(*image.loc, _KEY): ids[image.loc] for image in images})


def _at(values: Any, loc: Loc) -> Any:
    for part in loc:
        values = values[part]
    return values


def _is_about_images(path: str) -> bool:
    return path.rpartition(".")[2] == _KEY
