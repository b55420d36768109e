"""The closest known name is suggested, and a look-alike letter is named."""

import pytest

from ultracluster_spec.did_you_mean import suggestion

KNOWN = ["region", "nodes", "queues"]


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ("regoin", "Did you mean 'region'?"),
        (" NODES ", "Did you mean 'nodes'?"),
        ("capacity", ""),
        ("n\u043edes", "Did you mean 'nodes'? U+043E (CYRILLIC SMALL LETTER O) is a non-ASCII letter"),
        ("\u0436", "U+0436 (CYRILLIC SMALL LETTER ZHE) is a non-ASCII letter"),
    ],
)
def test_suggests_the_closest_name_and_names_a_letter_that_only_looks_alike(got: str, said: str) -> None:
    assert suggestion(got, KNOWN) == said


def test_names_must_be_as_similar_as_asked() -> None:
    assert suggestion("queue", KNOWN, similarity=0.99) == ""
    assert suggestion("queue", KNOWN, similarity=0.9) == "Did you mean 'queues'?"


def test_a_very_long_name_is_compared_by_its_beginning() -> None:
    assert suggestion("nodes" * 100_000, KNOWN) == ""
