"""FSx for Lustre file systems and data repository associations."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="fsx", attribute="ResourceARN")


class _FileSystem(ApiProvider):
    """A file system. The registry schema omits create-only settings: those that UpdateFileSystem does not take."""

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:
        """Return the create-only properties, including settings that only CreateFileSystem accepts.

        The type's documentation (read 2026-11) lists replacement for two of them, CopyTagsToBackups and DeploymentType,
        and no interruption for the others, which no FSx operation supports.
        """
        lustre = (
            "CopyTagsToBackups",
            "DeploymentType",
            "DriveCacheType",
            "EfaEnabled",
            "ExportPath",
            "ImportPath",
            "ImportedFileChunkSize",
        )
        at_creation = {("StorageType",), *(("LustreConfiguration", name) for name in lustre)}
        return super().create_only(resource_type, old, new) | at_creation

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the file system and wait until it is described no more."""
        super().delete(context, physical_id, properties)
        self.read(context, physical_id, properties)


PROVIDERS: Mapping[str, Provider] = {
    "AWS::FSx::FileSystem": _FileSystem.described(
        "fsx",
        "FileSystem",
        "FileSystemId",
        attribute_paths={"LustreMountName": "LustreConfiguration.MountName"},
        updates=("UpdateFileSystem", "FileSystemId"),
        partial=frozenset({"LustreConfiguration"}),
        tagging=_TAGS,
    ),
    "AWS::FSx::DataRepositoryAssociation": ApiProvider.described(
        "fsx",
        "DataRepositoryAssociation",
        "AssociationId",
        id_path="Association.AssociationId",
        reads=("DescribeDataRepositoryAssociations", "AssociationIds[]", "Associations[0]"),
        updates=("UpdateDataRepositoryAssociation", "AssociationId"),
        tagging=_TAGS,
    ),
}
