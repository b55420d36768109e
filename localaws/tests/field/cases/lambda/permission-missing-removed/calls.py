f.remove_permission(FunctionName="f", StatementId="s")
