i = client("iam")
i.create_service_linked_role(AWSServiceName="batch.amazonaws.com")
i.create_service_linked_role(AWSServiceName="batch.amazonaws.com")
