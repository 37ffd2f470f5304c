"""Drawings for people: tracks over the picture, as video and as a sheet, and series over time.

Pictures need the ``report`` extra (Pillow); series as SVG need nothing.
"""

from __future__ import annotations

from screentest.reports.overlay.canvas import require_pillow
from screentest.reports.overlay.series import check_series_path, write_series
from screentest.reports.overlay.sheet import draw_sheet, write_tracks_png
from screentest.reports.overlay.trails import draw_paths, draw_tracks
from screentest.reports.overlay.video import write_tracks_video

__all__ = [
    "check_series_path",
    "draw_paths",
    "draw_sheet",
    "draw_tracks",
    "require_pillow",
    "write_series",
    "write_tracks_png",
    "write_tracks_video",
]
