s = client("s3")
s.create_bucket(Bucket="one-bucket")
redirect = {"ReplaceKeyPrefixWith": "a/", "ReplaceKeyWith": "b"}
rule = {"Condition": {"KeyPrefixEquals": "c/"}, "Redirect": redirect}
s.put_bucket_website(
    Bucket="one-bucket",
    WebsiteConfiguration={"IndexDocument": {"Suffix": "i.html"}, "RoutingRules": [rule]},
)
