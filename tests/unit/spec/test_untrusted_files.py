"""Files of users are read with limits on size, nesting and numbers."""

from pathlib import Path

import pytest

from ultracluster_spec.untrusted_files import TooLargeError, parse_untrusted_json, read_untrusted_file


def test_reads_no_more_than_is_good(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(b"12345")
    assert read_untrusted_file(path, most_bytes=5) == b"12345"
    with pytest.raises(TooLargeError, match="larger than 4 bytes"):
        read_untrusted_file(path, most_bytes=4)


def test_takes_json_with_a_byte_order_mark() -> None:
    assert parse_untrusted_json(b'\xef\xbb\xbf{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
