"""Rules about resources that work together: nodes and their reservation, network, jobs, life cycle and roles.

`nodes` and `permissions` join the resources of a template by their references; the other modules ask rules of what is joined.
"""
