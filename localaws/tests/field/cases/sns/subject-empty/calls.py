sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.publish(TopicArn=topic, Message="m", Subject="")
