"""Server of the soak, `python -m infra.soak.server 5`: `make run` on a machine whose clock is 5 s ahead."""

import sys

from infra.local.__main__ import main
from infra.soak.skewed_clock import use_skewed_clock

if __name__ == "__main__":
    use_skewed_clock(float(sys.argv[1]))
    sys.exit(main())
