import json

body = {
    "Parameters": {"Name": {"Type": "String"}},
    "Resources": {"A": {"Type": "AWS::SNS::Topic", "Fn::Transform": {"Name": {"Ref": "Name"}}}},
}
client("cloudformation").create_stack(
    StackName="one",
    TemplateBody=json.dumps(body),
    Capabilities=["CAPABILITY_AUTO_EXPAND"],
    Parameters=[{"ParameterKey": "Name", "ParameterValue": "absent"}],
)
