sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.subscribe(TopicArn=topic, Protocol="test-protocol", Endpoint="x@example.com")
