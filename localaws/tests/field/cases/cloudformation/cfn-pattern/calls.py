import json

c = client("cloudformation")
t = {
    "Parameters": {"P": {"Type": "String", "AllowedPattern": "[a-z]+"}},
    "Resources": {"A": {"Type": "AWS::SNS::Topic"}},
}
c.create_stack(
    StackName="s", TemplateBody=json.dumps(t), Parameters=[{"ParameterKey": "P", "ParameterValue": "A1"}]
)
