"""Much plain data as a short text of a widget's config, which the browser unpacks (packed.js)."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def packed(data: Any) -> str:
    """Plain data as JSON, deflated and in base64."""
    text = json.dumps(data, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
