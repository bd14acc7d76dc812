"""A page as a reader of HTML sees it: elements, their attributes and texts, and the data for scripts."""

from __future__ import annotations

import json
from html.parser import HTMLParser


class Reader(HTMLParser):
    """``elements``: (tag, attributes) of each element; ``texts``: by tag the texts inside."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data):
        for tag in set(self._open):
            self.texts[tag][-1] += data

    def tagged(self, tag):
        """The attributes of each element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def visible_text(self):
        """All text of the body but that of scripts, with single spaces."""
        body = " ".join(self.texts["body"])
        for script in self.texts.get("script", []):
            body = body.replace(script, " ")
        return " ".join(body.split())

    @property
    def data(self):
        """The data for the page's scripts."""
        [text] = [
            text
            for text, (attributes) in zip(self.texts["script"], self.tagged("script"), strict=True)
            if attributes.get("id") == "data"
        ]
        return json.loads(text)

    @property
    def policy(self):
        """The rules of the Content-Security-Policy by name."""
        [text] = [one["content"] for one in self.tagged("meta") if one.get("http-equiv") == "Content-Security-Policy"]
        return dict(rule.split(" ", 1) for rule in text.split("; "))
