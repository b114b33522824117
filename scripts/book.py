#!/usr/bin/env python3
"""What mdBook needs to know about this repository.

As a preprocessor of mdBook (book.toml), a page that begins with `<!-- include: FILE -->` is FILE; a link to such a
FILE is a link to the page; a link to any other file outside of docs/ is one to the repository on GitHub; and
`<!-- help -->` is the help of all commands.

`scripts/book.py check FOLDER` fails where a link in the book leads nowhere.
"""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/cltune/cltune"
INCLUDE = re.compile(r"\A<!-- include: (\S+) -->\n")
# Code comes first: what looks like a link in it is none.
LINK = re.compile(r"(?P<code>^```.*?^```|`[^`]+`)|\]\((?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"(?P<code>^```.*?^```)|^(?P<heading>#+ )", re.DOTALL | re.MULTILINE)


def included(page):
    """The file that a page of docs/ stands for, if it does."""
    found = INCLUDE.match(page.read_text(encoding="utf-8"))
    return (page.parent / found[1]).resolve() if found else None


def rewritten(text, folder, page, pages):
    """The text of a file in `folder` with its links as those of a page of the book."""

    def link(match):
        target = match["target"]
        if target is None or urlsplit(target).scheme or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        path = (folder / path).resolve()
        path = pages.get(path, path)
        anchor = f"#{anchor}" if anchor else ""
        if path.is_relative_to(DOCS) and not path.is_dir():
            # mdBook calls these pages index.
            path = path.with_name("index.md") if path.name == "README.md" else path
            return f"]({os.path.relpath(path, page.parent)}{anchor})"
        kind = "tree" if path.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{path.relative_to(ROOT)}{anchor})"

    return LINK.sub(link, text)


def demoted(text):
    """The text with headings one level lower."""
    return HEADING.sub(lambda match: match[0] if match["code"] else f"#{match['heading']}", text)


def help_of_all_commands():
    tool = ROOT / "target" / "debug" / "cargo-cltune"

    def shown(*arguments):
        shown = subprocess.run([tool, "cltune", *arguments], capture_output=True, text=True, check=True)
        return "\n".join(line.rstrip() for line in shown.stdout.splitlines())

    overview = shown("--help")
    commands = re.search(r"^Commands:\n(.*?)\n\n", overview, re.DOTALL | re.MULTILINE)[1]
    names = [line.split()[0] for line in commands.splitlines()]
    pages = [f"## `cargo cltune {name}`\n\n```text\n{shown('help', name)}\n```\n" for name in names if name != "help"]
    return "\n".join(pages)


def content(chapter, pages):
    page = DOCS / chapter["source_path"]
    file = included(page)
    if file is None:
        text = rewritten(chapter["content"], page.parent, page, pages)
        return text.replace("<!-- help -->", help_of_all_commands()) if "<!-- help -->" in text else text
    text = rewritten(file.read_text(encoding="utf-8"), file.parent, page, pages)
    if text.startswith("# "):
        return text
    title = next(line for line in chapter["content"].splitlines() if line.startswith("# "))
    return f"{title}\n\n{demoted(text)}"


def preprocess():
    _, book = json.load(sys.stdin)
    pages = {file: page for page in DOCS.rglob("*.md") if (file := included(page))}

    def visit(items):
        for item in items:
            chapter = item.get("Chapter") if isinstance(item, dict) else None
            if chapter:
                if chapter["source_path"]:
                    chapter["content"] = content(chapter, pages)
                visit(chapter["sub_items"])

    visit(book["items"])
    json.dump(book, sys.stdout)


class Page(HTMLParser):
    """What a page links to, and what of it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        self.links.update(attributes[name] for name in ("href", "src") if attributes.get(name))


def check(folder):
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    broken, links = [], 0
    for path, page in sorted(pages.items()):
        # One page with all chapters, whose anchors mdBook numbers; and one for addresses that are no page.
        if path.name in ("print.html", "404.html"):
            continue
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or anchor and target in pages and anchor not in pages[target].ids:
                broken.append(f"{path.relative_to(folder)}: {link}")
    for line in broken:
        print(f"scripts/docs: a link that leads nowhere: {line}", file=sys.stderr)
    print(f"{len(pages)} pages, {links} links, {len(broken)} broken")
    return 1 if broken or not links else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0)
    if sys.argv[1:2] == ["check"]:
        sys.exit(check(Path(sys.argv[2]).resolve()))
    preprocess()
