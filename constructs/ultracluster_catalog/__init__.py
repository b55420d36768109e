"""Dated facts about Trainium machines and the services around them. Standard library only."""

__all__: list[str] = []
