import json

c = client("cloudformation")
p = {
    "Resources": {"A": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"O": {"Value": {"Ref": "A"}, "Export": {"Name": "h6x"}}},
}
q = {
    "Resources": {
        "B": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Type": "String", "Value": {"Fn::ImportValue": "h6x"}},
        }
    }
}
c.create_stack(StackName="p", TemplateBody=json.dumps(p))
wait("p")
c.create_stack(StackName="q", TemplateBody=json.dumps(q))
wait("q")
c.delete_stack(StackName="p")
failed("p")
