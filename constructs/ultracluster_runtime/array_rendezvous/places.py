"""Places where an array meets: a folder that all nodes mount, or a prefix of a bucket."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any, Mapping, Protocol  # noqa: UP035 - runs on Python 3.8

from ultracluster_runtime.array_rendezvous.rendezvous import Unavailable


class Place(Protocol):
    """Keys and short texts that all children of an array read and write, each call linearizable."""

    def create(self, key: str, text: str) -> bool:
        """Write a key unless it exists, all at once; return whether this call wrote it."""

    def write(self, key: str, text: str) -> None:
        """Write or overwrite a key, all at once."""

    def read(self, key: str) -> str | None:
        """Return the text of a key, or None."""

    def list_keys(self, prefix: str) -> Mapping[str, str]:
        """Return the texts of all keys below a prefix that ends in a slash."""


class Folder:
    """A folder of a file system that gives all its clients one view, as Lustre does, and knows hard links."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(self, key: str, text: str) -> bool:
        """See `Place`."""
        with _errors():
            whole = self._whole(key, text)
            try:
                os.link(whole, self._root / key)  # unlike a rename, refused if the name is taken
            except FileExistsError:
                return False
            finally:
                whole.unlink()
            return True

    def write(self, key: str, text: str) -> None:
        """See `Place`."""
        with _errors():
            self._whole(key, text).replace(self._root / key)

    def read(self, key: str) -> str | None:
        """See `Place`."""
        with _errors():
            try:
                return (self._root / key).read_text(encoding="utf-8")
            except FileNotFoundError:
                return None

    def list_keys(self, prefix: str) -> Mapping[str, str]:
        """See `Place`."""
        with _errors():
            folder = self._root / prefix
            names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
            texts = {prefix + name: self.read(prefix + name) for name in names if not name.startswith(".")}
            return {key: text for key, text in texts.items() if text is not None}

    def _whole(self, key: str, text: str) -> Path:
        """Write a file beside the key's, which has its whole text on the servers before it gets its name."""
        target = self._root / key
        target.parent.mkdir(parents=True, exist_ok=True)
        path = target.parent / f".{uuid.uuid4().hex}"
        with path.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # a client that is evicted loses what it has not sent
        return path


@contextlib.contextmanager
def _errors() -> Any:
    try:
        yield
    except OSError as error:
        raise Unavailable(str(error)) from error


class Bucket:
    """A prefix, ending in a slash, of a bucket. S3 reads and lists what was written, and writes conditionally.

    Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel, and `IfNoneMatch` of PutObject
    in botocore 1.44.5.
    """

    def __init__(self, s3: Any, bucket: str, prefix: str) -> None:
        self._s3, self._bucket, self._prefix = s3, bucket, prefix

    def create(self, key: str, text: str) -> bool:
        """See `Place`."""
        try:
            self._put(key, text, IfNoneMatch="*")
        except self._s3.exceptions.ClientError as error:
            if error.response["Error"]["Code"] == "PreconditionFailed":
                return False
            raise Unavailable(str(error)) from error  # also 409, which asks to repeat
        return True

    def write(self, key: str, text: str) -> None:
        """See `Place`."""
        with self._errors():
            self._put(key, text)

    def read(self, key: str) -> str | None:
        """See `Place`."""
        with self._errors():
            try:
                body = self._s3.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"]
            except self._s3.exceptions.NoSuchKey:
                return None
            return str(body.read().decode())

    def list_keys(self, prefix: str) -> Mapping[str, str]:
        """See `Place`."""
        with self._errors():
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            keys = [item["Key"][len(self._prefix) :] for page in pages for item in page.get("Contents", [])]
            texts = {key: self.read(key) for key in keys}
            return {key: text for key, text in texts.items() if text is not None}

    def _put(self, key: str, text: str, **condition: str) -> None:
        self._s3.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=text.encode(), **condition)

    @contextlib.contextmanager
    def _errors(self) -> Any:
        try:
            yield
        except self._s3.exceptions.ClientError as error:
            raise Unavailable(str(error)) from error
