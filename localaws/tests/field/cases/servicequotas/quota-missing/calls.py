client("service-quotas").get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000")
