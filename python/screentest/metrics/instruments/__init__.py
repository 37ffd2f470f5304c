"""Full-reference instruments that other programs and libraries bring, behind one protocol.

:func:`create` makes those that can run and gives an unmeasured score, with its reason, for every
name that cannot: a missing extra, missing weights, material outside a model's domain. Nothing here
reaches the network; weights are fetched by ``screentest models fetch`` alone.

>>> from screentest.metrics import instruments
>>> instruments.REQUESTS["xpsnr"]
('xpsnr_y', 'xpsnr_cb', 'xpsnr_cr')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.instruments.choice import create
    from screentest.metrics.instruments.instrument import Instrument, unmeasured
    from screentest.metrics.instruments.names import INSTRUMENT_NAMES, REQUESTS, TRAITS

__all__ = ["INSTRUMENT_NAMES", "REQUESTS", "TRAITS", "Instrument", "create", "unmeasured"]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "instrument", "choice"))
