sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.add_permission(TopicArn=topic, Label="one", AWSAccountId=["123456789012"], ActionName=["NoSuchAction"])
