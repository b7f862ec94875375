"""Arguments are copied up to the caps, however plain each of them is."""

from __future__ import annotations

import pytest

from sponsio_like.values import UNREADABLE, freeze_args


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("each", "read"), [(1e-300, 66), (1e300, 66), (0.0, 99), (0.5, 99)])
def test_numbers_of_many_digits_share_a_cap_whether_large_or_small(
    each: float, read: int, sign: int
) -> None:
    """99 numbers of 300 digits are more than 20,000 digits: the last of them are unreadable."""
    frozen = freeze_args({f"n{i}": sign * each for i in range(99)})
    assert list(frozen.values()) == [sign * each] * read + [UNREADABLE] * (99 - read)
