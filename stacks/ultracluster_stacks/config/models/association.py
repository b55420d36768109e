"""`associations` of a file system: folders that are joined with S3."""

from typing import Annotated, Literal

from pydantic import Field

from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_rules.lustre import DATA_REPOSITORY
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["AssociationConfig"]

_Event = Literal["NEW", "CHANGED", "DELETED"]


class AssociationConfig(ConfigModel):
    """A data repository association: a folder of the file system, joined with a bucket or a prefix of one."""

    file_system_path: str = Field(description="The folder, such as /datasets.")
    data_repository_path: Annotated[
        str,
        constraint(DATA_REPOSITORY),
    ] = Field(description="An existing bucket and prefix, such as s3://my-bucket/c4/.")
    import_events: tuple[_Event, ...] = Field(
        default=("NEW", "CHANGED"),
        description="What is carried from S3 to the folder by itself. A bucket in another Region takes none.",
    )
    export_events: tuple[_Event, ...] = Field(
        default=("NEW", "CHANGED"),
        description="What is carried from the folder to S3 by itself. With `DELETED`, an rm on Lustre deletes the object.",
    )
    import_existing: bool = Field(
        default=True, description="Whether the objects that are there at the start are listed in the folder."
    )

    @property
    def association(self) -> DataRepositoryAssociation:
        """The association as it is asked of FSx."""
        return DataRepositoryAssociation(
            file_system_path=self.file_system_path,
            data_repository_path=self.data_repository_path,
            import_events=self.import_events,
            export_events=self.export_events,
            import_existing=self.import_existing,
        )
