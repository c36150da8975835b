"""Who may ask for what: one middleware in front of every route.

Host against an allow-list (DNS rebinding), Origin and a header of our own on everything that changes something (CSRF),
Sec-Fetch-Site where the browser sends it, and the phone's cookie. Forwarding headers are never looked at.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from anovax.companion.devices import Device, DeviceStore
from anovax.companion.refusal import Refused, not_paired
from anovax.errors import AnovaxError

COOKIE = "__Host-anovax"
HEADER = "X-AnovaX"
DEVICE: web.RequestKey[Device] = web.RequestKey("device", Device)

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), payment=(), usb=(), display-capture=()",
    "Server": "AnovaX",
}
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' wss://{host}; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types anovax"
)

_log = logging.getLogger(__name__)


class Guard:
    """``hosts`` gives the allowed Host names now (they follow the network); ``public`` are paths open to strangers;
    ``trusted`` is told of every request by a paired phone."""

    def __init__(
        self,
        hosts: Callable[[], Sequence[str]],
        port: Callable[[], int],
        devices: DeviceStore,
        public: frozenset[str],
        trusted: Callable[[web.Request], None],
    ) -> None:
        self._hosts = hosts
        self._port = port
        self._devices = devices
        self._public = public
        self._trusted = trusted

    def middleware(self) -> Middleware:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                self.check(request)
                await asyncio.sleep(0)  # hundreds of requests in one packet let the others in between
                return await handler(request)
            except Refused as refused:
                return answer(refused)
            except web.HTTPException as error:
                return answer(Refused(error.status, "http", error.reason or "That cannot be done"))
            except AnovaxError as error:
                return answer(Refused(422, "failed", error.problem, error.fix))
            except (ConnectionError, TimeoutError):
                raise
            except Exception as error:  # noqa: BLE001  the phone sees one sentence, the log the rest
                _log.error("%s failed: %r", request.path, error, exc_info=_log.isEnabledFor(logging.DEBUG))
                return answer(Refused(500, "broken", "Something broke on the computer", "see its log"))

        return guard

    def check(self, request: web.Request) -> None:
        """Refused unless this request may go on; sets ``request[DEVICE]`` for a paired phone."""
        self._check_host(request)
        changes = request.method == "POST"
        if request.method not in ("GET", "POST"):
            raise Refused(405, "method", "Only GET and POST are answered here")
        if changes or "upgrade" in request.headers.get("Connection", "").lower() or "Upgrade" in request.headers:
            self._check_origin(request)
        if changes and request.headers.get(HEADER) != "1":
            raise Refused(403, "header", "The request did not come from the companion's page", "reload the page")
        device = self._device(request)
        if device is not None:
            request[DEVICE] = device
            self._trusted(request)
        elif request.path not in self._public:
            raise not_paired()

    def _check_host(self, request: web.Request) -> None:
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._allowed():
            raise Refused(421, "host", "This name does not belong to this computer", "use the address that it shows")

    def _allowed(self) -> set[str]:
        port = self._port()
        names = {f"{name}:{port}" for name in self._hosts()}
        return names | set(self._hosts()) if port == 443 else names

    def _check_origin(self, request: web.Request) -> None:
        origins = request.headers.getall("Origin", [])
        if len(origins) != 1 or origins[0].lower() != f"https://{request.headers['Host'].lower()}":
            raise Refused(403, "origin", "The request came from another page", "use the companion's own page")

    def _device(self, request: web.Request) -> Device | None:
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        if site not in ("same-origin", "none"):
            return None  # another site made the browser ask: its cookie does not count
        return self._devices.find(request.cookies.get(COOKIE, ""))


def answer(refused: Refused) -> web.Response:
    """A refusal as the page reads it: ``{"error", "sentence", "retry_s"}``."""
    body = {"error": refused.code, "sentence": str(refused), "retry_s": round(refused.retry_s)}
    headers = {"Retry-After": str(max(1, round(refused.retry_s)))} if refused.retry_s else {}
    return web.json_response(body, status=refused.status, headers=headers)


async def add_security_headers(request: web.Request, response: web.StreamResponse) -> None:
    """For ``on_response_prepare``: streams and errors get them too."""
    response.headers.update(SECURITY_HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["Content-Security-Policy"] = CSP.format(host=_printable_host(request))


def _printable_host(request: web.Request) -> str:
    host = request.headers.get("Host", "")
    return host if host and all(char.isalnum() or char in ".-:[]" for char in host) else "localhost"
