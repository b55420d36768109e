client("cloudformation").create_stack(StackName="one", TemplateURL="https://example.com/dummy.yaml")
