"""Write the README of the packages so that its links work where package indexes show it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Sets `readme` of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README with links for readers who have no checkout.

        Args:
            metadata: Metadata of the project.
        """
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute_links(text, metadata.get("urls", {})),
        }


def absolute_links(text: str, urls: dict[str, str]) -> str:
    """Rewrite relative links: below the project's `Source` URL, or, without one, as the command that prints the page.

    Args:
        text: Markdown.
        urls: `project.urls`.
    """
    if source := urls.get("Source"):
        raw = source.replace("https://github.com/", "https://raw.githubusercontent.com/")
        text = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\1{raw}/main/", text)
        return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{source}/blob/main/", text)
    text = re.sub(r"!\[([^]]*)\]\((?!https?:)[^)]+\)\n\n", "", text)
    text = re.sub(
        r"\[([^]]+)\]\(docs/[\w-]+/(?!index|README)([\w-]+)\.md[^)]*\)", r"\1 (`ultracluster docs \2`)", text
    )
    return re.sub(r"(?<!!)\[([^]]+)\]\((?!https?:|#)[^)]+\)", r"\1", text)
