"""A page read as the elements and the text that a browser would find."""

import html.parser
import re

WITHOUT_END = {"meta", "img", "link", "br", "input", "path", "rect", "hr"}


class Reader(html.parser.HTMLParser):
    """A page as a list of elements, and its visible text; refuses what is not well nested."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def assert_nothing_is_fetched(text):
    """A page is complete in itself, and its own policy forbids the rest."""
    found = Reader(text)
    for tag, attributes in found.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
            given = attributes.get(name)
            assert given is None or given.startswith(("data:image/", "#")), (tag, given)
        assert "style" not in attributes
        assert tag not in ("link", "iframe", "object", "embed", "base")
    policy = next(e["content"] for e in found.all("meta")
                  if e.get("http-equiv") == "Content-Security-Policy")  # fmt: skip
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    assert not re.search(r"url\(|@import|https?://", text)
