"""What a service double was sent."""

from __future__ import annotations

import json
from typing import Any

from tests.support.double.service import ServiceDouble


def sent(service: ServiceDouble) -> list[tuple[str, Any]]:
    """Return the line and the body of each request."""
    bodies = [json.loads(request.content) if request.content else None for request in service.requests]
    return list(zip(service.calls, bodies, strict=True))
