stacks = client("cloudformation")
for _ in range(2):
    stacks.create_stack(StackName="one", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}')
