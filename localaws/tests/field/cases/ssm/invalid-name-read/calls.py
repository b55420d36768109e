client("ssm").get_parameter(Name="{test}-test")
