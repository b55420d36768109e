client("budgets").create_budget(
    AccountId="123456789012",
    Budget={
        "BudgetName": "b",
        "BudgetType": "COST",
        "TimeUnit": "MONTHLY",
        "BudgetLimit": {"Amount": "-1", "Unit": "USD"},
    },
)
