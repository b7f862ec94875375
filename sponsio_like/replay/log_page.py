"""Writes the report on a decision log as one page of HTML, which loads nothing from elsewhere.

In: `Facts`. Out: text. It has no content of the agent but what the log has.
"""

from __future__ import annotations

import re
from pathlib import Path

from sponsio_like.errors import SponsioLikeError
from sponsio_like.replay.log_counts import Facts

TEMPLATE = Path(__file__).with_suffix(".html.j2")
KINDS = (
    ("blocked", "blocked"),
    ("held", "held"),
    ("approved", "approved"),
    ("redirected", "redirected"),
    ("would", "would have been stopped"),
    ("warned", "warned"),
    ("late", "reported late"),
    ("unfulfilled", "left open"),
)


def page_of(facts: Facts, title: str) -> str:
    """Return the page. Raises `SponsioLikeError` without the extra."""
    try:
        import jinja2
        import markupsafe
    except ImportError:
        raise SponsioLikeError(
            "a report as a page needs more: pip install 'sponsio-like[report]'"
        ) from None
    text = TEMPLATE.read_text("utf-8")

    def breakable(name: str) -> markupsafe.Markup:
        """Return a name that a narrow page may break behind `_` and `/`."""
        told = str(markupsafe.escape(name))
        return markupsafe.Markup(re.sub("([_/])", r"\1<wbr>", told))  # noqa: S704  it is escaped

    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(text)
    rendered: str = template.render(
        facts=facts,
        title=title,
        kinds=KINDS,
        peak=max((each["n"] for each in facts.parts["over_time"]), default=1),
        n=lambda number: f"{number:,}",
        breakable=breakable,
        at=lambda moment: "" if moment is None else str(moment)[:19],
    )
    return rendered
