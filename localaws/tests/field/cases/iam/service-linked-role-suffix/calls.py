client("iam").create_service_linked_role(AWSServiceName="batch.amazonaws.com", CustomSuffix="one")
