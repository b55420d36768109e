client("sns").publish(TopicArn="arn:aws:sns:us-east-1:123456789012:absent", Message="x")
