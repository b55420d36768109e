import json

t = {
    "Resources": {"A": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {f"O{n}": {"Value": "x"} for n in range(201)},
}
client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(t))
