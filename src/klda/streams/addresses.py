"""Whether a name leads out of the own network: asked when somebody names a source, and again at each connection.

A name can lead elsewhere a moment after it was looked at, so looking once is not enough.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from klda.errors import SettingError

Resolve = Callable[[str, int], list[str]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Where networks without IPv4 find it: the last four bytes are the address that is meant."""


def resolved(host: str, port: int) -> list[str]:
    """The addresses that a name leads to, the best first; OSError where it leads nowhere."""
    return list(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def outside(host: str, port: int, resolve: Resolve = resolved) -> list[str]:
    """The addresses that a name leads to; SettingError where one of them lies in the own network.

    >>> outside("mastodon.example", 443, lambda host, port: ["93.184.215.14"])
    ['93.184.215.14']
    """
    found = resolve(host, port)
    for address in found:
        if not _is_outside(address):
            raise SettingError(f"{host} leads into the own network ({address}), which --private-sources would allow")
    return found


def _is_outside(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        meant = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            meant = ipaddress.IPv4Address(address.packed[-4:])
        if meant is None:
            special = address.is_reserved or address.is_site_local or address.is_multicast
            return address.is_global and not special
        address = meant
    return address.is_global and not address.is_multicast
