"""TLS to servers that users name: the authorities to trust, and what to do about a certificate that is not trusted.

The workers import it, too, so it needs little but the standard library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ssl import SSLContext

UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
"""What OpenSSL's errors say of a certificate of an unknown authority or for another name."""


def tls_context(authorities: str) -> SSLContext:
    """Return the TLS settings that trust the given certificates in PEM; without any, those of the machine and httpx.

    Reads files of a megabyte for the latter. Raises `ssl.SSLError` and `ValueError` for text that is not certificates.
    """
    import ssl

    if authorities:
        return ssl.create_default_context(cadata=authorities)
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def reason_of(error: OSError | UnicodeError) -> str:
    """Return why a connection failed, with what to do about a certificate that is not trusted."""
    # An SSLError's `strerror` tells less than its text.
    text = error.strerror if isinstance(error, OSError) and not hasattr(error, "verify_message") else None
    return explain(text or str(error) or type(error).__name__)


def explain(reason: str) -> str:
    """Return why a server cannot be reached, with what to do about a certificate that is not trusted."""
    if UNTRUSTED not in reason:
        return reason
    return f"its certificate is not trusted ({reason}); give the certificate of its authority as external.tls_ca"
