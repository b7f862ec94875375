"""What processes of the tests are forks of: all is imported, and each way was gone once."""

import gc
import importlib
import tempfile

from tests.adapters.lives import WAYS, Home, Life, lived
from tests.adapters.postgres import missing

if not missing():
    importlib.import_module("langgraph.checkpoint.postgres.aio")

for _way in WAYS:
    with tempfile.TemporaryDirectory() as _folder:
        lived(Life(Home(_folder), _way, "asked"))
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 20)  # as in tests/conftest.py
