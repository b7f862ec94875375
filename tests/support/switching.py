"""A plugin of pytest: threads take turns every microsecond, so that tests meet rare orders.

In: nothing; `pytest -p tests.support.switching` loads it. Out: the interval of the whole process.
"""

import sys

sys.setswitchinterval(1e-6)
