"""Function of the soak, `python -m infra.soak.function 5 --target chat …`: functions-framework on a machine whose clock is 5 s ahead."""

import sys

from functions_framework._cli import _cli

from infra.soak.skewed_clock import use_skewed_clock

if __name__ == "__main__":
    use_skewed_clock(float(sys.argv.pop(1)))
    _cli()
