"""Ledger, roles and guard rails of capacity purchases."""
