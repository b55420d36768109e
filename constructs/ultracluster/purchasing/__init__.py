"""Ledger, roles and guard rails of capacity purchases."""

__all__: list[str] = []
