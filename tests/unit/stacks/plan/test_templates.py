import pytest

from ultracluster_stacks.plan import read_template


@pytest.mark.parametrize(
    "text",
    ['{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}', "Resources:\n  T:\n    Type: AWS::SNS::Topic\n"],
)
def test_reads_json_and_yaml(text: str) -> None:
    assert read_template(text) == {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}


def test_a_version_of_a_policy_stays_text_in_yaml() -> None:
    assert read_template("Version: 2012-10-17\nResources: {}")["Version"] == "2012-10-17"


@pytest.mark.parametrize(
    "text", ["[]", "{}", "Resources: [", "Resources: !Ref x", '{"Resources": {"A": 1}}', ""]
)
def test_refuses_anything_but_a_template(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):  # any message of the parser
        read_template(text)


def test_refuses_a_text_without_resources_as_a_template() -> None:
    with pytest.raises(ValueError, match=r"^it has no Resources$"):
        read_template("Description: nothing")
    with pytest.raises(ValueError, match=r"^line \d: this is not valid YAML: "):
        read_template("Resources: [")
