"""Templates of custom resources with their functions."""

from typing import Any

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}}
INLINE = """
import cfnresponse

def handler(event, context):
    properties = event["ResourceProperties"]
    if properties.get("Fail") == event["RequestType"]:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, reason="told to fail")
        return
    data = {"Request": event["RequestType"], "Number": properties["Number"], "Old": str(event.get("OldResourceProperties"))}
    cfnresponse.send(event, context, cfnresponse.SUCCESS, data, properties.get("Id", "fixed"))
"""


def function(code: str, *, runtime: str = "python3.13", **variables: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": runtime,
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"ZipFile": code},
            "Environment": {"Variables": variables},
        },
    }


def custom(code: str = INLINE, *, runtime: str = "python3.13", **properties: Any) -> dict[str, Any]:
    token = {"Fn::GetAtt": ["Function", "Arn"]}
    return {
        "Resources": {
            "Role": ROLE,
            "Function": function(code, runtime=runtime),
            "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": token, **properties}},
        },
        "Outputs": {
            "Request": {"Value": {"Fn::GetAtt": ["Thing", "Request"]}},
            "Number": {"Value": {"Fn::GetAtt": ["Thing", "Number"]}},
        },
    }
