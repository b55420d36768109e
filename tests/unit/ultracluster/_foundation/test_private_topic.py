import pytest
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import new_stack, of_type

from ultracluster._foundation.private_topic import grant_publish

pytestmark = pytest.mark.slow

SOURCE = {"ArnEquals": {"aws:SourceArn": "arn:aws:cloudwatch:us-east-2:123456789012:alarm:one"}}


def test_a_topic_lets_the_service_publish_for_this_account_and_an_imported_one_is_left_alone() -> None:
    stack = new_stack()
    own = sns.Topic(stack, "Own", enforce_ssl=True)
    elsewhere = sns.Topic.from_topic_arn(stack, "Elsewhere", "arn:aws:sns:us-east-2:123456789012:elsewhere")
    for topic in (own, elsewhere):
        grant_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com", source=SOURCE)

    (policy,) = of_type(stack, "AWS::SNS::TopicPolicy")
    assert policy["Properties"]["Topics"] == [stack.resolve(own.topic_arn)]
    over_tls, alarm = policy["Properties"]["PolicyDocument"]["Statement"]
    assert over_tls["Sid"] == "AllowPublishThroughSSLOnly"
    assert alarm["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert alarm["Condition"] == {**SOURCE, "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
