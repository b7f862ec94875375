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
from sponsio_like.values import Facts

LEAST_ENTROPY = 2.5
"""Fewest bits for each character of a token; `xxxxxxxx` has 0, twenty random hex digits 3.5."""
EDGE, END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
FORMS = {
    "aws_key": r"(?:AKIA|ASIA)[A-Z2-7]{16}",
    "github_key": r"gh[opsur]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,255}",
    "gitlab_key": r"gl(?:pat|dt|rt|cbt|ptt|oas)-[\w-]{20,64}",
    "slack_key": r"xox[abeoprs]-[\w-]{10,250}|xapp-\d-[\w-]{10,250}"
    r"|hooks\.slack\.com/services/T\w{6,14}/B\w{6,14}/\w{18,32}",
    "stripe_key": r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/=]{24,64}",
    "anthropic_key": r"sk-ant-[\w-]{20,200}",
    "openai_key": r"sk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{16,200}",
    "google_key": r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{30,512}",
    "package_key": r"npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50,400}|rubygems_[a-f0-9]{48}",
    "sendgrid_key": r"SG\.[\w-]{22}\.[\w-]{43}",
    "twilio_key": r"SK[0-9a-f]{32}",
    "huggingface_key": r"hf_[A-Za-z0-9]{34,40}",
    "cloud_key": r"do[oprt]_v1_[a-f0-9]{64}|dapi[a-f0-9]{32}|hvs\.[\w-]{24,140}"
    r"|AccountKey=[A-Za-z0-9+/]{86}==|FwoGZXIvYXdz[\w+/=-]{40,900}",
    "telegram_key": r"\d{8,10}:AA[\w-]{33}",
    "shop_key": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|sq0(?:atp|csp)-[\w-]{22,43}",
}
"""Keys by the prefix that who issues them has published."""


@kind("secrets", FACTS, main="finds")
def secrets(text: str) -> Facts:
    """Return the keys and passwords in a text."""
    return facts_of_group(text, "secrets")


def entropy(text: str) -> float:
    """Return the bits for each character, as far as the characters' frequencies tell."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _form(name: str, form: str) -> None:
    whole = re.compile(f"{EDGE}(?:{form}){END}")

    @detector(name, "secrets")
    def keys(text: str) -> Found:
        for match in whole.finditer(text):
            body = match[0][-20:]
            if entropy(body) >= LEAST_ENTROPY and (name != "openai_key" or _mixed(match[0][3:])):
                yield match.start(), match.end(), match[0]


for _name, _look in FORMS.items():
    _form(_name, _look)


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
    r"(?<![A-Za-z])(?:pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|auth|private|client)"
    r"[_-]?(?:key|token|secret)|token|bearer)(?![A-Za-z])[\"']?\s{0,3}(?:is\s|[:=]|\s)>?\s{0,3}"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`,;<>(){}\[\]]{8,200})",
    re.IGNORECASE,
)
STAND_IN = re.compile(
    r"\$|%|\*{3}|\.{3}|x{4}|^(?:your|my|the|example|change|env|os\.|process\.|self\.|config)",
    re.IGNORECASE,
)
"""What stands in the place of a secret: a variable, dots, `your-key`."""


@detector("private_key", "secrets")
def private_keys(text: str) -> Found:
    """Yield blocks of private keys, to their end or that of the text."""
    for match in PRIVATE.finditer(text):
        yield match.start(), match.end(), match[0].partition("\n")[0]


@detector("jwt", "secrets")
def web_tokens(text: str) -> Found:
    """Yield signed tokens (JWT) whose first part is a header."""
    for match in TOKEN.finditer(text):
        padded = match[1] + "=" * (-len(match[1]) % 4)
        try:
            header = json.loads(base64.urlsafe_b64decode(padded))
        except (ValueError, RecursionError):
            continue
        if isinstance(header, dict) and "alg" in header:
            yield match.start(), match.end(), match[0]


@detector("password", "secrets")
def passwords(text: str) -> Found:
    """Yield passwords in URLs, and what stands behind `password=`, `api_key:` and their like."""
    for match in LOGIN.finditer(text):
        if not STAND_IN.search(match[1]):
            yield match.start(1), match.end(1), match[1]
    for match in SAID.finditer(text):
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
