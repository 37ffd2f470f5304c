"""Full-reference instruments that other programs and libraries bring, behind one protocol.

:func:`create` makes those that can run and gives an unmeasured score, with its reason, for every
name that cannot: a missing extra, missing weights, material outside a model's domain. Nothing here
reaches the network; weights are fetched by ``screentest models fetch`` alone.

>>> from screentest.metrics import instruments
>>> instruments.REQUESTS["xpsnr"]
('xpsnr_y', 'xpsnr_cb', 'xpsnr_cr')
"""

from __future__ import annotations

from screentest.metrics.instruments.create import INSTRUMENT_NAMES, create
from screentest.metrics.instruments.instrument import REQUESTS, TRAITS, Instrument, unmeasured

__all__ = ["INSTRUMENT_NAMES", "REQUESTS", "TRAITS", "Instrument", "create", "unmeasured"]
