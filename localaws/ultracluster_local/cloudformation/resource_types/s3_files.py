"""Amazon S3 Files: file systems and mount targets."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Provider

__all__ = ["PROVIDERS"]

PROVIDERS: Mapping[str, Provider] = {
    "AWS::S3Files::FileSystem": ApiProvider(
        service="s3files",
        creates="CreateFileSystem",
        id_path="fileSystemArn",
        deletes=("DeleteFileSystem", "fileSystemId"),
        reads=("GetFileSystem", "fileSystemId", "@"),
        attribute_paths={
            "FileSystemArn": "fileSystemArn",
            "FileSystemId": "fileSystemId",
            "OwnerId": "ownerId",
            "Status": "status",
        },
    ),
    "AWS::S3Files::MountTarget": ApiProvider(
        service="s3files",
        creates="CreateMountTarget",
        id_path="mountTargetId",
        deletes=("DeleteMountTarget", "mountTargetId"),
        reads=("GetMountTarget", "mountTargetId", "@"),
        attribute_paths={
            "MountTargetId": "mountTargetId",
            "OwnerId": "ownerId",
            "Status": "status",
            "VpcId": "vpcId",
            "AvailabilityZoneId": "availabilityZoneId",
        },
        updates=("UpdateMountTarget", "mountTargetId"),
        updatable=frozenset({"SecurityGroups"}),
    ),
}
