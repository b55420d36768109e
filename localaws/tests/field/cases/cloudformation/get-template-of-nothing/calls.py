client("cloudformation").get_template()
