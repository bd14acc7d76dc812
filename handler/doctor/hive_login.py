"""Why a login to HiveServer2 fails, where the error itself does not say it: the usual mistakes with Kerberos and SASL.

    KERBEROS   the module ``kerberos`` is missing; no ticket, or an old one; the host or the service has another name
    any        the server wants another login than the one that was chosen

Sources: pure-sasl (``puresasl.client``), PyHive, the messages of MIT Kerberos.
"""

from __future__ import annotations

import re

__all__ = ["login_advice"]

#: A closed connection: Thrift says "unexpected exception" of one that was reset, and has the cause in ``inner``.
_ENDED = "tsocket read 0 bytes|connection reset|broken pipe"
_KERBEROS: tuple[tuple[str, str], ...] = (
    (
        "none of the mechanisms listed",
        "Python's module kerberos is missing: pip install pykerberos, which needs a compiler and Kerberos' headers "
        "(Debian: gcc libkrb5-dev)",
    ),
    ("ticket expired|credentials have expired", "the Kerberos ticket has expired: kinit"),
    ("no credentials|no kerberos credentials|credentials cache", "there is no Kerberos ticket: kinit, then klist"),
    (
        r"server\b.*not found in kerberos database|unknown server",
        "Kerberos knows no service of this name: --hive takes the host name of hive.server2.authentication.kerberos."
        "principal, no address and no alias, and --kerberos-service its first part (hive by default)",
    ),
    ("clock skew", "the clocks of this machine and of the Kerberos server differ by more than they may"),
    (
        "cannot contact any kdc|cannot find kdc|cannot resolve network address",
        "no Kerberos server answers: look at the realm in krb5.conf (KRB5_CONFIG)",
    ),
    (
        f"unsupported mechanism|{_ENDED}|bad status",
        "HiveServer2 ended the login: it may not use Kerberos (hive.server2.authentication), or not with the service "
        "that --kerberos-service names",
    ),
)
_ANY = f"unsupported mechanism|{_ENDED}|bad status|error validating the login"


def login_advice(error: BaseException, auth: str) -> str:
    """What to do about a login that failed, "" where nothing is known about it."""
    text = " ".join(f"{error} {getattr(error, 'inner', None) or ''}".split()).lower()
    for pattern, advice in _KERBEROS if auth == "KERBEROS" else ():
        if re.search(pattern, text):
            return advice
    if re.search(_ANY, text):
        return (
            "HiveServer2 ended the login: --auth must be what hive.server2.authentication says, with KERBEROS where "
            "the cluster is secured"
        )
    return ""
