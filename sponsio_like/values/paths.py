"""Tells whether a path of a file lies in a folder, by its text: `..`, `~`, escapes, look-alikes.

In: a path as a tool was given it, folders, and the folder that relative paths start from. Out:
`True`, `False`, or `None` where readers of paths differ: one decodes `%2e`, another does not. No
file is looked at, but for `real`, which follows symbolic links.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

HOME = "/~"
"""The folder that stands for the home folder, which no rule knows."""
HERE = "/\0"
"""The folder that stands for the one from which a relative path starts."""
LONGEST = 4_096
"""Most characters of a path: PATH_MAX of Linux."""
PLAIN = re.compile(r"[\w./-]+", re.ASCII)
"""A path that all readers read alike: letters, digits, and signs that no reader changes."""
UNCLEAR = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff\ufffd]"
)
"""Control characters, those that nobody sees, and halves of characters."""
SLASHES = re.compile("[\u2044\u2215\u29f8\u29f9\ufe68\uff3c\u2216\u2571\u2572\u3033\u30fd]")
"""Signs that look like a slash and are none."""
DRIVE = re.compile(r"([A-Za-z]):")
AT_HOME = re.compile(
    r"~(?=[/\\]|$)|\$HOME(?!\w)|\$\{HOME\}|%(?:USERPROFILE|HOMEPATH)%", re.IGNORECASE
)
VARIABLE = re.compile(r"\$[A-Za-z_({]|`|%\w+%", re.ASCII)
LINKS = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(?:root|cwd|fd|map_files)(?:/|\Z)")
"""The links of `/proc` to other places."""
HOMES = re.compile(r"/(?:root|home|Users|var/root|export/home)(?:/|\Z)")
"""Folders that a home folder is, or lies in."""
TRAILING = re.compile(r"\.[. ]* [. ]*")
"""A step that some systems read as `..` or as `.`."""
DOTS = re.compile(r"(?:^|/)\.\.?;")
"""The same to servers that cut a step at `;`."""
DECODINGS = 3
"""Most times that escapes are decoded: `%252e` is `%2e`, and then `.`."""


def under(path: object, folders: tuple[str, ...], root: str = "") -> bool | None:
    """Return True if the path is one of the folders or lies in one; None if that cannot be told.

    A relative path starts from `root`, or from the first of the folders. Readings differ where a
    tool may decode escapes, take a backslash for a slash, or strip blanks; all have to agree.
    """
    if not isinstance(path, str) or not path.strip() or len(path) > LONGEST:
        return None
    if path[:6] == "/proc/" and ".." in path:  # behind a link, `..` leads elsewhere
        return None
    start, places = root or folders[0], _places(folders)
    if PLAIN.fullmatch(path):
        first = "" if path[0] == "/" else "".join(_places((start,)))
        return _told(_shortened(f"{first}/{path}"), places)
    answers: set[bool | None] = set()
    for reading in _readings(path):
        place = None if reading is None else _resolved(reading, start)
        answers.add(None if place is None else _told(place, places))
    return answers.pop() if len(answers) == 1 else None


def place_of(path: str) -> str | None:
    """Return the path without `.`, `..` and slashes that stand for nothing; None if readers differ.

    An absolute path is absolute, and a relative one relative: `a/../b` is `b`. One that leads out
    of the folder from which it starts has no place of its own.
    """
    if not path.strip() or len(path) > LONGEST or (path[:6] == "/proc/" and ".." in path):
        return None
    if PLAIN.fullmatch(path) and path[0] == "/":
        place: str | None = _shortened(path)
    else:
        places = {None if each is None else _relative(each) for each in _readings(path)}
        place = places.pop() if len(places) == 1 else None
    return None if place is None or LINKS.match(place) else place


def _relative(reading: str) -> str | None:
    """Return the place of one reading of a path; None if it leads out of where it starts."""
    start = HERE * (reading.count("..") + 1)
    found = _resolved(reading, start)
    if found is None or not found.startswith(HERE):
        return found
    return found[len(start) + 1 :] or "." if _lies(found, (start,)) else None


def plainly_under(folders: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a test of paths that only says True where `under` does, by the text alone."""
    begins = tuple(f"{each.rstrip('/')}/" for each in _places(folders))
    if any(each == "/" or each[:6] == "/proc/" for each in begins):
        return lambda path: under(path, folders) is True
    plain = PLAIN.fullmatch

    def test(path: str) -> bool:
        if ".." in path or not path.startswith(begins) or len(path) > LONGEST:
            return False
        return plain(path) is not None

    return test


@lru_cache(maxsize=256)
def _places(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the absolute paths of those folders of which they can be told."""
    places = (_resolved(each, "/") for each in folders)
    return tuple(each for each in places if each is not None)


def real(path: str, root: str) -> str:
    """Return the path with its symbolic links followed, as far as it exists; relative ones start
    from `root`.
    """
    return os.path.realpath(Path(root) / path)


def _told(place: str, folders: tuple[str, ...]) -> bool | None:
    """Return True if a place lies in one of the folders; None for one that leads elsewhere.

    A link of `/proc` may lead anywhere, and a home folder may be `/root`, or lie in `/home`.
    """
    if _lies(place, folders):
        return True if place[:6] != "/proc/" or "/" in folders or not LINKS.match(place) else None
    if place[:6] == "/proc/":
        return None if LINKS.match(place) else False
    if place[:2] == HOME:
        return None if any(map(HOMES.match, folders)) else False
    return False


def _lies(place: str, folders: tuple[str, ...]) -> bool:
    return place in folders or place.startswith(tuple([f"{each.rstrip('/')}/" for each in folders]))


def _readings(path: str) -> Iterator[str | None]:
    """Yield the path as each kind of reader may take it; None for what nobody can tell."""
    texts = [path]
    for _ in range(DECODINGS):
        if (decoded := unquote(texts[-1], errors="replace")) == texts[-1]:
            break
        texts.append(decoded)
    if unquote(texts[-1]) != texts[-1]:
        yield None
    for text in texts:
        for each in dict.fromkeys(_spellings(text)):
            yield None if SLASHES.search(each) or not _is_plain(each) else each
            if "\\" in each:
                yield each.replace("\\", "/")


def _spellings(text: str) -> tuple[str, ...]:
    """Return a text as it is, without blanks and quotes around it, and with plain letters."""
    return text, text.strip(), text.strip("'\""), normalize("NFKC", text)


def _is_plain(text: str) -> bool:
    """True if there is neither a control character in the text, nor half a character."""
    return UNCLEAR.search(text) is None


def _resolved(path: str, root: str) -> str | None:
    """Return the absolute path without `.` and `..`; None if a variable or a scheme decides."""
    text = path[len("file://") :] if path[:8].lower() == "file:///" else path
    if re.match(r"[A-Za-z][\w+.-]+:(?:[\w+.-]+:)*/", text):
        return None
    home = AT_HOME.match(text)
    text = HOME + text[home.end() :] if home else text
    if text[:1] == "~":
        text = f"/{text}"  # the home folder of another user
    if VARIABLE.search(text):
        return None
    if drive := DRIVE.match(text):
        text = f"/{drive[1].lower()}:/{text[2:]}"
    if not text.startswith("/"):
        text = f"{_resolved(root, '/') or ''}/{text}"
    if " " in text and any(map(TRAILING.fullmatch, text.split("/"))):
        return None
    if ";" in text and DOTS.search(text):
        return None
    return _shortened(text)


def _shortened(text: str) -> str:
    """Return an absolute path without `.`, `..` and slashes that stand for nothing."""
    steps: list[str] = []
    for step in text.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    return f"/{'/'.join(steps)}"


def is_folder(text: str) -> bool:
    """True if a text names one absolute folder, without anything that nobody can tell."""
    return under(text, (text,)) is True and not re.match(r"[\w.]+(?!:)", text)
