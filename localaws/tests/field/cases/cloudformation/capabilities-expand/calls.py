import json

body = {"Transform": ["Macro"], "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
client("cloudformation").create_stack(StackName="one", TemplateBody=json.dumps(body))
