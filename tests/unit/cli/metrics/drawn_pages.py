"""Recordings and the pages that are drawn of them."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a reader without eyes for charts finds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._silent = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = tag in {"script", "style"}
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._silent = self._silent and tag not in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)
