s = client("sns")
arn = s.create_topic(Name="a.fifo", Attributes={"FifoTopic": "true"})["TopicArn"]
s.publish(TopicArn=arn, Message="x")
