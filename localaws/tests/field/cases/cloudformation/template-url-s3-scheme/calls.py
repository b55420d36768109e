client("s3").create_bucket(Bucket="one-templates")
client("cloudformation").create_stack(StackName="one", TemplateURL="s3://one-templates/t.yaml")
