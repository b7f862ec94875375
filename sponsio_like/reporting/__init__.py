"""The report on a decision log as a page, for logs of any size.

In: log files. Out: `Facts`, counted by an embedded database (the extra `report`), and a page of
HTML: each contract with its rate and the bounds of it, over time, by tool and by agent, sessions.
"""

from sponsio_like.reporting.facts import Facts, facts_of
from sponsio_like.reporting.page import page_of

__all__ = ["Facts", "facts_of", "page_of"]
