"""`python -m tests.fuzz`."""

import sys

from tests.fuzz.campaign import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
