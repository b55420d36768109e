import json

c = client("cloudformation")
t = {
    "Resources": {
        "A": {"Type": "AWS::SNS::Topic", "DependsOn": "B"},
        "B": {"Type": "AWS::SNS::Topic", "DependsOn": "A"},
    }
}
c.create_stack(StackName="s", TemplateBody=json.dumps(t))
