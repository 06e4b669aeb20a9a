"""HTTP as clients here speak it: through the user's proxy, tried again where that may help."""

import ssl
from urllib.request import getproxies, proxy_bypass

import httpx
from httpx_retries import Retry

PASSING = (408, 425, 429, 500, 502, 503, 504)
"""The statuses that another try may not meet; every other 4xx is final at once."""


class PassingRetry(Retry):
    """Tries again what may pass; a certificate that is not trusted will not be, the next time."""

    def is_retryable_exception(self, exception: Exception) -> bool:
        """Whether the failure may pass."""
        cause: BaseException | None = exception
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return False
            cause = cause.__cause__ or cause.__context__
        return super().is_retryable_exception(exception)


def network(scheme: str, host: str, verify: ssl.SSLContext | bool = True) -> httpx.HTTPTransport:
    """Return the way to a host: by the proxy that the environment names for it, or directly."""
    proxy = None if proxy_bypass(host) else getproxies().get(scheme)
    return httpx.HTTPTransport(verify=verify, proxy=proxy)
