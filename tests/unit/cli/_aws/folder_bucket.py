"""Amazon S3 and STS in a folder, which several processes may use at once, with the conditional requests of a lock."""

import fcntl
import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients


class FolderBucket:
    """One bucket, whose objects are files."""

    def __init__(self, folder: Path, *, account: str = "123456789012") -> None:
        self.folder = folder
        self.account = account
        self.calls: list[str] = []

    def get_caller_identity(self) -> dict[str, str]:
        return {"Account": self.account, "Arn": f"arn:aws:iam::{self.account}:user/alice"}

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        self.calls.append("GetObject")
        with self._locked():
            path = self._path(Bucket, Key)
            if not path.is_file():
                raise _refused("NoSuchKey", "GetObject")
            content, changed = path.read_bytes(), path.stat().st_mtime
        return {
            "Body": io.BytesIO(content),
            "ETag": _etag(content),
            "LastModified": datetime.fromtimestamp(changed, UTC),
            "ResponseMetadata": {"HTTPHeaders": {"date": format_datetime(datetime.now(UTC), usegmt=True)}},
        }

    def put_object(
        self,
        *,
        Bucket: str,  # noqa: N803 - as boto3 has it
        Key: str,  # noqa: N803 - likewise
        Body: bytes,  # noqa: N803 - likewise
        ContentType: str,  # noqa: N803 - likewise
        IfMatch: str | None = None,  # noqa: N803 - likewise
        IfNoneMatch: str | None = None,  # noqa: N803 - likewise
    ) -> dict[str, Any]:
        assert ContentType == "application/json"
        self.calls.append("PutObject")
        with self._locked():
            path = self._path(Bucket, Key)
            self._require(path, IfMatch, "PutObject")
            if IfNoneMatch is not None and path.is_file():
                raise _refused("PreconditionFailed", "PutObject")
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(".new")
            whole.write_bytes(Body)
            whole.replace(path)
        return {"ETag": _etag(Body)}

    def delete_object(self, *, Bucket: str, Key: str, IfMatch: str) -> None:  # noqa: N803 - as boto3 has it
        self.calls.append("DeleteObject")
        with self._locked():
            path = self._path(Bucket, Key)
            self._require(path, IfMatch, "DeleteObject")
            path.unlink()

    def age(self, seconds: float) -> None:
        """Let time pass since the last write of every object."""
        for path in self.objects():
            changed = path.stat().st_mtime - seconds
            os.utime(path, (changed, changed))

    def objects(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.json") if path.is_file())

    def _path(self, bucket: str, key: str) -> Path:
        return self.folder / bucket / key

    def _require(self, path: Path, etag: str | None, operation: str) -> None:
        if etag is not None and not path.is_file():
            raise _refused("NoSuchKey", operation)
        if etag is not None and etag != _etag(path.read_bytes()):
            raise _refused("PreconditionFailed", operation)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "mutex").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def client_of(aws: Any, bucket: FolderBucket) -> FakeClients:
    """Clients of a fake account with a bucket."""
    services = dict.fromkeys(("s3", "sts"), bucket) | dict.fromkeys(("cloudformation", "cloudwatch"), aws)
    return FakeClients(lambda service, _: services[service])


def asset_manifest(stage: Path) -> dict[str, Any]:
    """Write the asset manifest of a fake stage and return its artifacts."""
    bucket = "cdk-hnb659fds-assets-${AWS::AccountId}-region"
    destinations = {"current": {"bucketName": bucket, "objectKey": "t.json"}}
    (stage / "a.assets.json").write_text(json.dumps({"files": {"t": {"destinations": destinations}}}))
    return {"a.assets": {"type": "cdk:asset-manifest", "properties": {"file": "a.assets.json"}}}


def _etag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def _refused(code: str, operation: str) -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": "refused"}}
    return ClientError(answer, operation)
