import pytest

from ultracluster_catalog.neuron.compiler_flags import merge_compiler_flags, split_compiler_flags


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("--model-type=transformer", "--model-type", "transformer"),
        ("--model-type transformer", "--model-type", "transformer"),
        ("--retry_failed_compilation", "--retry_failed_compilation", ""),
        ("-O1", "--optlevel", "1"),
        ("-O 3", "--optlevel", "3"),
        ("--lnc=2", "--logical-nc-config", "2"),
        ("-lnc 2", "--logical-nc-config", "2"),
        ("--enable-saturate-infinity", "--enable-saturate-infinity", "enable"),
        ("--disable-mixed-precision-accumulation", "--enable-mixed-precision-accumulation", "disable"),
        ("--tensorizer-options='--a --b '", "--tensorizer-options", "'--a --b '"),
        ('--internal-options="--x y"', "--internal-options", '"--x y"'),
    ],
)
def test_knows_a_flag_by_every_spelling(text: str, name: str, value: str) -> None:
    (flag,) = split_compiler_flags(text)
    assert (flag.name, flag.value, flag.text) == (name, value, text)


def test_tells_flags_apart() -> None:
    text = "--auto-cast all  -O1 --tensorizer-options='--a=1 --b' --verbose=info"
    assert [flag.name for flag in split_compiler_flags(text)] == [
        "--auto-cast",
        "--optlevel",
        "--tensorizer-options",
        "--verbose",
    ]


def test_a_flag_of_two_sources_is_passed_once() -> None:
    merged = merge_compiler_flags(["--retry_failed_compilation", "-O1 --x", "--optlevel=1 --y 2", "--x"])
    assert merged == "--retry_failed_compilation -O1 --x --y 2"


def test_a_source_without_repetitions_stays_as_it_was_written() -> None:
    assert merge_compiler_flags(["--a", "--b  'c   d'   --e"]) == "--a --b  'c   d'   --e"
    assert merge_compiler_flags(["", "--a"]) == "--a"
    assert merge_compiler_flags([]) == ""


def test_what_one_source_repeats_is_its_own_affair() -> None:
    assert merge_compiler_flags(["--a=1 --a=1"]) == "--a=1 --a=1"


def test_other_values_of_a_flag_are_kept_for_the_check_to_find() -> None:
    assert merge_compiler_flags(["-O1", "-O2"]) == "-O1 -O2"


@pytest.mark.parametrize("text", ["'", "stray --a", "--a='b", ""])
def test_broken_text_is_taken_as_it_is(text: str) -> None:
    assert merge_compiler_flags([text]) == text
