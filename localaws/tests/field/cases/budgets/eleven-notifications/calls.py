b = client("budgets")
money = {"Amount": "10", "Unit": "USD"}
budget = {"BudgetName": "b", "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": money}
people = [{"SubscriptionType": "EMAIL", "Address": "a@example.com"}]
kind = {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "ThresholdType": "PERCENTAGE"}
all_of_them = [{"Notification": kind | {"Threshold": 10.0 * n}, "Subscribers": people} for n in range(1, 12)]
b.create_budget(AccountId="123456789012", Budget=budget, NotificationsWithSubscribers=all_of_them)
