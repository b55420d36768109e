c = client("cloudformation")
c.create_stack(
    StackName="s",
    TemplateBody='{"Resources":{"A":{"Type":"AWS::SNS::Topic"}}}',
    EnableTerminationProtection=True,
)
c.delete_stack(StackName="s")
