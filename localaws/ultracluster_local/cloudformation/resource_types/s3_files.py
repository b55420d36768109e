"""Amazon S3 Files: file systems and mount targets."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Provider

__all__ = ["PROVIDERS"]

PROVIDERS: Mapping[str, Provider] = {
    "AWS::S3Files::FileSystem": ApiProvider.got(
        "s3files",
        "FileSystem",
        "fileSystemId",
        id_path="fileSystemArn",
        reads=("GetFileSystem", "fileSystemId", "@"),
    ),
    "AWS::S3Files::MountTarget": ApiProvider.got(
        "s3files",
        "MountTarget",
        "mountTargetId",
        id_path="mountTargetId",
        reads=("GetMountTarget", "mountTargetId", "@"),
        updates=("UpdateMountTarget", "mountTargetId"),
    ),
}
