"""A page in a real browser: what it made of it, and what it says when asked."""

import base64
import hashlib
import html
import json
import re

# The narrowest window that it makes by itself is wider than a phone.
PHONE = 390


def with_test(path, script):
    """The page with a second script, allowed by its hash beside the page's own, that leaves its
    answer in an element."""
    script = f"{{ const answer = {{}};\n{script}\n" + (
        "const made = document.createElement('pre'); made.id = 'answer';"
        "made.textContent = JSON.stringify(answer); document.body.append(made); }"
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = path.read_text(encoding="utf-8")
    text = text.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    tried = path.with_name("tried.html")
    tried.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    return tried


def answer_of(browse, path, script):
    dom, said = browse(with_test(path, script))
    assert not said
    return json.loads(html.unescape(re.search(r'<pre id="answer">(.*?)</pre>', dom, re.S)[1]))
