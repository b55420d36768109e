sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
for _ in range(2):
    sns.add_permission(TopicArn=topic, Label="one", AWSAccountId=["123456789012"], ActionName=["Publish"])
