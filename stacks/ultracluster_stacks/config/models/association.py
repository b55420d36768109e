"""`associations` of a file system: directories linked to S3."""

from typing import Annotated, Literal

from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_rules.lustre import DATA_REPOSITORY
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

_Event = Literal["NEW", "CHANGED", "DELETED"]


class AssociationConfig(ConfigModel):
    """A data repository association: a directory of the file system linked to a bucket or prefix."""

    file_system_path: str
    """Directory of the file system, such as /datasets."""

    data_repository_path: Annotated[str, constraint(DATA_REPOSITORY)]
    """Existing bucket and prefix, such as s3://my-bucket/c4/."""

    import_events: tuple[_Event, ...] = ("NEW", "CHANGED")
    """Changes in S3 that are imported automatically. Must be empty for a bucket in another Region."""

    export_events: tuple[_Event, ...] = ("NEW", "CHANGED")
    """Changes in the directory that are exported to S3 automatically. With `DELETED`, rm on Lustre deletes the object."""

    import_existing: bool = True
    """Whether to import the metadata of objects that exist at creation."""

    @property
    def association(self) -> DataRepositoryAssociation:
        """The association for the constructs."""
        return DataRepositoryAssociation(**{name: getattr(self, name) for name in type(self).model_fields})
