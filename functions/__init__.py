"""One folder a function.

Loading one makes objects that stay. The collector need not look through them again and again, which
took a tenth of a cold start.
"""

import gc

gc.set_threshold(50_000, 20, 20)
