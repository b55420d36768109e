"""Words of commands: what a shell would change is encoded, and parameters of AWS Batch stay readable."""

import base64
import bz2

import pytest

from ultracluster_spec.commands import check_parameters, encode_word


@pytest.mark.parametrize(
    "word", ["train.py", "--lr=1e-4", "s3://bucket/a_b", "50%", "Ref::steps", "--n=Ref::n"]
)
def test_words_that_no_shell_changes_stay_readable(word: str) -> None:
    assert encode_word(word) == word


@pytest.mark.parametrize(
    "word", ["", "a b", "$HOME", "it's", "*", "~", "a\n", "=x", "base64:Zm9v", "bz2:", "\u00fc"]
)
def test_other_words_are_encoded_in_letters_that_no_shell_changes(word: str) -> None:
    kind, _, rest = encode_word(word).partition(":")
    assert kind == "base64"
    assert base64.b64decode(rest).decode() == word


def test_long_words_are_packed() -> None:
    word = "print('x')\n" * 400
    kind, _, rest = encode_word(word).partition(":")
    assert kind == "bz2"
    assert bz2.decompress(base64.b64decode(rest)).decode() == word
    assert len(rest) < len(word) / 10


def test_a_parameter_in_a_word_that_is_encoded_is_refused() -> None:
    (finding,) = check_parameters(["train.py", "Ref::a", "for Ref::steps"], path="command")
    assert (finding.code, finding.path) == ("UC6143", "command[2]")
    assert "'Ref::steps'" in str(finding)
