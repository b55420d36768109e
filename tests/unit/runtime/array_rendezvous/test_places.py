import threading
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from ultracluster_runtime.array_rendezvous.places import Bucket, Folder, Place
from ultracluster_runtime.array_rendezvous.rendezvous import Unavailable


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "folder":
        yield Folder(tmp_path)
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="meeting")
        yield Bucket(s3, "meeting", "node_arrays/")


def test_the_first_text_of_a_created_key_stays(place: Place) -> None:
    assert place.create("job/over", "first")
    assert not place.create("job/over", "second")
    assert place.read("job/over") == "first"


def test_a_written_key_is_overwritten(place: Place) -> None:
    place.write("job/0001/beat/0", "runs 1")
    place.write("job/0001/beat/0", "runs 2")
    assert place.read("job/0001/beat/0") == "runs 2"


def test_a_key_that_nobody_wrote_has_no_text(place: Place) -> None:
    assert place.read("job/over") is None
    assert place.list_keys("job/0001/member/") == {}


def test_a_listing_has_the_keys_below_its_prefix_only(place: Place) -> None:
    place.write("job/0001/member/0-01-a", "10.0.0.1")
    place.create("job/0001/member/1-01-b", "10.0.0.2")
    place.write("job/0001/beat/0", "runs 1")
    place.write("job/0002/member/0-02-c", "10.0.0.3")
    assert place.list_keys("job/0001/member/") == {
        "job/0001/member/0-01-a": "10.0.0.1",
        "job/0001/member/1-01-b": "10.0.0.2",
    }


def test_of_many_who_create_a_key_in_a_folder_one_succeeds(tmp_path: Path) -> None:
    folder, won = Folder(tmp_path), []
    barrier = threading.Barrier(8)

    def create(number: int) -> None:
        barrier.wait()
        if folder.create("job/over", str(number)):
            won.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [folder.read("job/over")] == [str(number) for number in won]
    assert [path.name for path in (tmp_path / "job").iterdir()] == ["over"]


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "job").write_text("a file where a folder should be")
    with pytest.raises(Unavailable):
        Folder(tmp_path).create("job/over", "text")


def test_a_bucket_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        bucket = Bucket(boto3.client("s3", region_name="us-east-1"), "nowhere", "")
        for call in (
            lambda: bucket.create("a", "b"),
            lambda: bucket.write("a", "b"),
            lambda: bucket.list_keys("a/"),
        ):
            with pytest.raises(Unavailable):
                call()
