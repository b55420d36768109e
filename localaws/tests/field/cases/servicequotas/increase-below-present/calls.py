q = client("service-quotas")
now = q.list_service_quotas(ServiceCode="ec2")["Quotas"][0]
q.request_service_quota_increase(
    ServiceCode="ec2", QuotaCode=now["QuotaCode"], DesiredValue=max(now["Value"] - 1, 0)
)
