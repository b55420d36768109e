"""The lock of a cluster in its account: an S3 object that only conditional requests write, renew and delete.

Decision 0029 says why it is kept in S3.
"""

import dataclasses
import json
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_spec.untrusted_files import parse_untrusted_json

LEASE: Final = timedelta(minutes=10)
"""A lock that was not renewed for this long may be taken over."""

# The condition does not hold, the object is gone, or another request for it was under way:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
_NOT_MET: Final = frozenset({"PreconditionFailed", "NoSuchKey", "404", "ConditionalRequestConflict"})
_ATTEMPTS: Final = 3
_MOST_BYTES: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who holds a lock.

    Attributes:
        owner: Random text of the process.
        who: Identity of its credentials, and user and host.
        since: When it took the lock, in ISO 8601.
        why: What it does.
    """

    owner: str = ""
    who: str = "unknown"
    since: str = "unknown"
    why: str = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A lock as it was read. Its age is the time since the last renewal by the clock of S3."""

    holder: Holder
    etag: str
    age: timedelta

    @property
    def expired(self) -> bool:
        """Whether another process may take it over."""
        return self.age >= LEASE


class LockHeldError(Exception):
    """Another process holds the lock, as far as that could be read."""

    def __init__(self, held: Held | None) -> None:
        super().__init__()
        self.held = held


@dataclass(kw_only=True, slots=True)
class ClusterLock:
    """The lock of one cluster."""

    client: Callable[[], Any]  # returns a client of S3, whose credentials may be renewed between calls
    bucket: str
    key: str
    clock: Callable[[], float] = time.monotonic
    _holder: Holder = field(default_factory=Holder)
    _etag: str = ""
    _renewed: float = 0.0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> Held | None:
        """Return who holds the lock; None if nobody does."""
        try:
            answer = self.client().get_object(Bucket=self.bucket, Key=self.key)
        except ClientError as error:
            if error.response["Error"]["Code"] in _NOT_MET:
                return None
            raise
        now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
        return Held(
            holder=_holder_of(answer["Body"].read(_MOST_BYTES)),
            etag=answer["ETag"],
            age=now - answer["LastModified"],
        )

    def acquire(self, holder: Holder, *, own: Collection[str] = ()) -> Held | None:
        """Take the lock and return its expired holder, or raise LockHeldError.

        `own` are owners that are known to be dead, so that their locks need not expire.
        """
        self._holder = holder
        held: Held | None = None
        for _ in range(_ATTEMPTS):
            try:
                self._write({"IfNoneMatch": "*"} if held is None else {"IfMatch": held.etag})
            except ClientError as error:
                if error.response["Error"]["Code"] not in _NOT_MET:
                    raise
            else:
                return held
            began, held = self.clock(), self.read()
            if held is not None and held.holder.owner == holder.owner:
                # The response to the write was lost.
                self._etag, self._renewed = held.etag, began - held.age.total_seconds()
                return None
            if held is not None and not held.expired and held.holder.owner not in own:
                break
        raise LockHeldError(held)

    def renew(self) -> None:
        """Begin the lease anew, or raise LockHeldError if another process has taken the lock over. Thread-safe."""
        with self._mutex:
            try:
                self._write({"IfMatch": self._etag})
            except ClientError as error:
                if error.response["Error"]["Code"] not in _NOT_MET:
                    raise
                began, held = self.clock(), self.read()
                if held is None or held.holder.owner != self._holder.owner:
                    raise LockHeldError(held) from error
                self._etag, self._renewed = held.etag, began - held.age.total_seconds()

    def require(self) -> None:
        """Raise LockHeldError unless this process still holds the lock, also after the machine was asleep or offline.

        While the lease lasts, a renewal that fails is tried again later; afterwards, its exception is raised.
        """
        age, lease = self.clock() - self._renewed, LEASE.total_seconds()
        if age > lease / 2:
            try:
                self.renew()
            except (BotoCoreError, ClientError):
                if age > lease * 0.9:
                    raise

    def release(self) -> None:
        """Delete the lock, unless another process has taken it over. Thread-safe."""
        with self._mutex:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    self.client().delete_object(Bucket=self.bucket, Key=self.key, IfMatch=self._etag)
                except ClientError as error:
                    if error.response["Error"]["Code"] not in _NOT_MET or attempt == _ATTEMPTS:
                        raise
                else:
                    return
                # The response to a renewal may have been lost, so that the ETag is another.
                held = self.read()
                if held is None or held.holder.owner != self._holder.owner:
                    return
                self._etag = held.etag

    def _write(self, condition: Mapping[str, str]) -> None:
        began = self.clock()
        # The ETag of an object may be the hash of its content, so each write differs.
        content = dataclasses.asdict(self._holder) | {"write": secrets.token_hex(8)}
        answer = self.client().put_object(
            Bucket=self.bucket,
            Key=self.key,
            Body=json.dumps(content).encode(),
            ContentType="application/json",
            **condition,
        )
        self._etag, self._renewed = answer["ETag"], began


def new_holder(*, who: str, why: str) -> Holder:
    """Return a holder with an owner of its own."""
    return Holder(
        owner=secrets.token_hex(16), who=who, since=datetime.now(UTC).isoformat(timespec="seconds"), why=why
    )


def _holder_of(content: bytes) -> Holder:
    """Read a holder; what somebody else has written there counts as a lock of an unknown holder."""
    try:
        values = parse_untrusted_json(content)
        return Holder(**{name.name: str(values[name.name])[:300] for name in dataclasses.fields(Holder)})
    except (ValueError, LookupError, TypeError):
        return Holder()
