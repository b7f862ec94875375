"""The tools of a shop's support agent: plain functions, which know nothing of contracts or models.

In: the file of the shop's books. Out: tools that write there what they have done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shop:
    """A shop. Its books have one line for each thing that was really done."""

    books: Path

    @property
    def tools(self) -> list[Callable[..., str]]:
        """The tools that the agent may be offered, and those that may run instead."""
        return [self.check_policy, self.issue_refund, self.delete_account, self.deactivate_account]

    def check_policy(self, order: int) -> str:
        """Look up whether an order can be refunded."""
        return f"order {order}: yes, it is less than 30 days old"

    def issue_refund(self, order: int, amount: int) -> str:
        """Pay an amount, in whole euros, back for an order."""
        return self._done(f"{amount} euros were paid back for order {order}")

    def delete_account(self, customer: str) -> str:
        """Erase a customer's account. This cannot be undone."""
        return self._done(f"the account of {customer} was deleted")

    def deactivate_account(self, customer: str) -> str:
        """Close a customer's account, so that it can be opened again."""
        return self._done(f"the account of {customer} was deactivated")

    def _done(self, what: str) -> str:
        with self.books.open("a", encoding="utf-8") as books:
            books.write(f"{what}\n")
        return what
