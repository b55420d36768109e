sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.subscribe(TopicArn=topic, Protocol="sms", Endpoint="+15551234567", Attributes={"FilterPolicy": "invalid"})
