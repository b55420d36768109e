stacks = client("cloudformation")
stacks.create_stack(StackName="one", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}')
wait("one")
stacks.create_change_set(
    StackName="one",
    ChangeSetName="two",
    ChangeSetType="CREATE",
    TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}',
)
