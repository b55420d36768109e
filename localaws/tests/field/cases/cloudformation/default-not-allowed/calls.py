import json

t = {
    "Parameters": {"Type": {"Type": "String", "Default": "m5.large", "AllowedValues": ["m4.large"]}},
    "Resources": {"A": {"Type": "AWS::SNS::Topic"}},
}
client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(t))
