import json

body = {"Description": "x", "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
text = json.dumps(body) + " " * 51_200
client("cloudformation").create_stack(StackName="one", TemplateBody=text)
