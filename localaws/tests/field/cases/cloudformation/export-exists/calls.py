import json

body = {
    "Resources": {"A": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"O": {"Value": {"Ref": "A"}, "Export": {"Name": "shared"}}},
}
c = client("cloudformation")
c.create_stack(StackName="one", TemplateBody=json.dumps(body))
wait("one")
c.create_stack(StackName="two", TemplateBody=json.dumps(body))
failed("two")
