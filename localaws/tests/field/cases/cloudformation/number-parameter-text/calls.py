import json

t = {"Parameters": {"Nodes": {"Type": "Number"}}, "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
client("cloudformation").create_stack(
    StackName="s",
    TemplateBody=json.dumps(t),
    Parameters=[{"ParameterKey": "Nodes", "ParameterValue": "four"}],
)
