"""The kind `secrets`: keys, tokens and passwords, by the forms in which they are published.

In: any text. Out: the names of what is found in it, and the values. A form with a prefix of its own
counts wherever it stands; a password or token without one, only behind a word that says so, and if
it looks as if drawn at random or chosen (`password=hunter2-Kx9`, not `password=${PASSWORD}`).
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter

from sponsio_like.kinds.detectors import Found, detector
from sponsio_like.kinds.personal import FACTS, facts_of_group
from sponsio_like.kinds.registry import kind
from sponsio_like.kinds.seen_text import Seen
from sponsio_like.values import Facts

LEAST_ENTROPY = 2.5
"""Fewest bits for each character of a token; `xxxxxxxx` has 0, twenty random hex digits 3.5."""
EDGE, END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("aws_key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    (
        "github_key",
        ("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"),
        r"gh[opsur]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,255}",
    ),
    ("gitlab_key", ("gl",), r"gl(?:pat|dt|rt|cbt|ptt|oas)-[\w-]{20,64}"),
    (
        "slack_key",
        ("xox", "xapp-", "hooks.slack"),
        r"(?:xox[abeoprs]|xapp-\d)-[\w-]{10,250}|hooks\.slack\.com/services(?:/\w{6,32}){3}",
    ),
    (
        "stripe_key",
        ("k_live_", "k_test_", "whsec_"),
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/=]{24,64}",
    ),
    ("anthropic_key", ("sk-ant-",), r"sk-ant-[\w-]{20,200}"),
    ("openai_key", ("sk-",), r"sk-(?!ant-)[\w-]{16,200}"),
    (
        "google_key",
        ("AIza", "GOCSPX-", "ya29."),
        r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{30,512}",
    ),
    (
        "package_key",
        ("npm_", "pypi-", "rubygems_", "dckr_"),
        r"npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50,400}|rubygems_[a-f0-9]{48}|dckr_[po]at_[\w-]{27,64}",
    ),
    ("sendgrid_key", ("SG.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    ("twilio_key", ("SK",), r"SK[0-9a-f]{32}"),
    ("huggingface_key", ("hf_",), r"hf_[A-Za-z0-9]{34,40}"),
    (
        "cloud_key",
        ("_v1_", "dapi", "hvs.", "AccountKey=", "AGE-SECRET-KEY-1", "vercel_", "glsa_", "glc_"),
        (
            r"AGE-SECRET-KEY-1[A-Z0-9]{58}|do[oprt]_v1_\w{64}|dapi[a-f0-9]{32}|hvs\.[\w-]{24,140}|AccountKey=[A-Za-z0-9+/]{86}=="
            r"|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_eyJ[A-Za-z0-9+/]{32,400}={0,2}"
            r"|vercel_(?:blob_rw_[A-Za-z0-9]{8,32}_)?(?=[A-Za-z]*\d)[A-Za-z0-9]{24,64}"
        ),
    ),
    (
        "developer_key",
        ("lin_", "PMAK-"),
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    ),
    ("telegram_key", (":AA",), r"(?:bot)?\d{8,10}:AA[\w-]{33}"),
    (
        "shop_key",
        ("shp", "sq0"),
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|sq0(?:atp|csp)-[\w-]{22,43}",
    ),
)
"""Keys by the prefix that who issues them has published; one of the short texts is in each."""


@kind("secrets", FACTS, main="finds")
def secrets(text: str) -> Facts:
    """Return the keys and passwords in a text."""
    return facts_of_group(text, "secrets")


def entropy(text: str) -> float:
    """Return the bits for each character, as far as the characters' frequencies tell."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _form(name: str, marks: tuple[str, ...], form: str) -> None:
    """Declare the detector of keys of this form."""
    whole = re.compile(f"{EDGE}(?:{form}){END}")

    @detector(name, "secrets")
    def find(seen: Seen) -> Found:
        text = seen.text
        for match in whole.finditer(text) if any(mark in text for mark in marks) else ():
            random = entropy(match[0][-20:]) >= LEAST_ENTROPY
            if random and (name != "openai_key" or _mixed(match[0][3:])):
                yield match.start(), match.end(), match[0]


for _each in FORMS:
    _form(*_each)


def _mixed(text: str) -> bool:
    """True for letters with digits among them, and not for words with dashes."""
    return any(each.isdigit() for each in text) and any(
        len(each) > 11 for each in re.split("[-_]", text)
    )


PRIVATE = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
TOKEN = re.compile(r"(?<![\w.-])(eyJ[\w-]{8,2000})\.eyJ[\w-]{2,8000}\.[\w-]{0,2000}")
LOGIN = re.compile(
    r"[a-z][a-z0-9+.-]{1,15}://[^\s/:@'\"<>]{0,64}:([^\s/@'\"<>]{3,128})@", re.IGNORECASE
)
SAID = re.compile(
    r"(?<![A-Za-z])(?:(?:pass|pwd)[\"']?\s{0,3}[:=]|(?:pass(?:word|wd|phrase)|secret(?:[_-]?"
    r"(?:access[_-]?)?key)?|(?:api|access|auth|private|client)[_-]?(?:key|token|secret)|token|bearer|"
    r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?basic)"
    r"(?![A-Za-z])[\"']?\s{0,3}(?:is\s|[:=]|\s)>?)\s{0,3}"
    r"[\"'`]?(?P<value>[^\s\"'`,;<>(){}\[\]]{8,200})",
    re.IGNORECASE,
)
WORDS = ("pass", "pwd", "secret", "token", "key", "bearer", "authorization")
STAND_IN = re.compile(
    r"\$|%|\*{3}|\.{3}|x{4}|^(?:your|my|the|example|change|env|os\.|process\.|self\.|config)",
    re.IGNORECASE,
)
"""Texts in the place of a secret: a variable, dots, `your-key`."""


@detector("private_key", "secrets")
def private_keys(seen: Seen) -> Found:
    """Yield blocks of private keys, to their end or that of the text."""
    text = seen.text
    for match in PRIVATE.finditer(text):
        yield match.start(), match.end(), match[0].partition("\n")[0]


@detector("jwt", "secrets")
def web_tokens(seen: Seen) -> Found:
    """Yield signed tokens (JWT) whose first part is a header."""
    text = seen.text
    for match in TOKEN.finditer(text) if "eyJ" in text else ():
        padded = match[1] + "=" * (-len(match[1]) % 4)
        try:
            header = json.loads(base64.urlsafe_b64decode(padded))
        except (ValueError, RecursionError):
            continue
        if isinstance(header, dict) and "alg" in header:
            yield match.start(), match.end(), match[0]


@detector("password", "secrets")
def passwords(seen: Seen) -> Found:
    """Yield passwords in URLs, and what stands behind `password=`, `api_key:` and their like."""
    text = seen.text
    for match in LOGIN.finditer(text) if "://" in text else ():
        if not STAND_IN.search(match[1]):
            yield match.start(1), match.end(1), match[1]
    lower = text.lower()
    for match in SAID.finditer(text) if any(word in lower for word in WORDS) else ():
        value = match["value"].rstrip(".:!?")
        if _is_chosen(value) and not STAND_IN.search(value):
            yield match.start("value"), match.start("value") + len(value), value


def _is_chosen(value: str) -> bool:
    """True for a text that is no word: letters, digits and signs are mixed in it."""
    kinds = [any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit)]
    signs = any(not each.isalnum() for each in value.strip("_-./"))
    path = value.count("/") > 1 or value.count(".") > 1 or "://" in value or "=" in value[:-2]
    return (
        len(value) >= 8
        and kinds[2]
        and sum(kinds) + signs >= 2
        and not path
        and entropy(value) >= LEAST_ENTROPY
    )
