"""What an object store answered, in words: the cause of a failure without addresses and the text of HTTP around it.

Codes are those of the XML that Amazon S3, Google Cloud Storage and Azure Blob Storage answer with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

__all__ = ["NO_SUCH_STORE", "StoreError", "cause_of", "is_taken"]

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<(?:Code|code)>([^<]{1,200})</")
_MESSAGE = re.compile(r"<(?:Message|message)>([^<]{1,500})</")
_JSON_MESSAGE = re.compile(r'"(?:error_description|message|Message)"\s*:\s*"((?:[^"\\]|\\.){1,300})')
_KIND = re.compile(r"\bkind: (Timeout|Connect|Interrupted|Request)\b")
_NO_TLS = re.compile(r"InvalidContentType|corrupt message|InvalidMessage")
#: What a message of Azure ends with.
_REQUEST = re.compile(r"\s*RequestId:.*", re.DOTALL)
_URL = re.compile(r"Error performing [A-Z]+ (\S+) in ")
#: Failures to get credentials that name no address. obstore hides that of a web identity's, as it does with SAS tokens.
_TOKEN = re.compile(
    r"(?i)token request|token response|metadata token|azure.?cli|credential.?(?:provider|file)|S3 .*REDACTED"
)
_BROKEN: Mapping[str, str] = {
    "Timeout": "no answer in time",
    "Connect": "no connection to the endpoint: connection refused, or no such host",
    "Interrupted": "connection was reset while the answer came",
    "Request": "connection was reset",
}
_EXPIRED = "the session's token has expired: renew the credentials"
_INVALID = "the token is not valid, or has expired: renew the credentials"
_REGION = "the bucket is in another region: give the option region"
_CAUSES: Mapping[str, str] = {
    # Amazon S3
    "NoSuchBucket": "there is no bucket {bucket}",
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "InvalidToken": _INVALID,
    "InvalidAccessKeyId": "invalid access key: the store does not know it",
    "SignatureDoesNotMatch": "signature does not match: the secret key is not that of the access key",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    # Google Cloud Storage
    "AuthenticationRequired": _INVALID,
    "InvalidSecurity": _INVALID,
    "UserProjectMissing": "the requester pays for this bucket: give the option user_project",
    # Azure Blob Storage
    "ContainerNotFound": "there is no container {bucket}",
    "ContainerBeingDeleted": "the container {bucket} is being deleted",
    "AuthenticationFailed": "authentication failed: the key or token is wrong, or has expired",
    "InvalidAuthenticationInfo": _INVALID,
    "NoAuthenticationInformation": "the store takes no anonymous requests: give credentials",
    "PublicAccessNotPermitted": "the account takes no anonymous requests: give credentials",
    "AuthorizationFailure": "access is denied: the key is wrong, or the account refuses this network",
    "AuthorizationPermissionMismatch": "access is denied: the credentials do not allow this",
    "AuthorizationSourceIPMismatch": "access is denied: the token is not for this network",
    "AccountRequiresHttps": "the account requires https",
}
#: Codes of a conflict that is over soon: another writer is at work on the same object.
_CONFLICTS = frozenset({"ConditionalRequestConflict", "OperationAborted"})
#: Codes that say that a bucket or container, and not an object, is not there.
NO_SUCH_STORE = ("NoSuchBucket", "ContainerNotFound")


class StoreError(OSError):
    """A store's answer that is no success: ``status`` of HTTP (0: none came), and the cause in words."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


def is_taken(error: BaseException) -> bool:
    """Whether a write failed because there is an object of this name. A status of 409 alone can mean anything."""
    text = str(error)
    status, code = _STATUS.search(text), _CODE.search(text)
    return status is None or status[1] == "412" or (code is not None and code[1].endswith("AlreadyExists"))


def cause_of(error: BaseException, bucket: str) -> OSError:
    """The error of a client as one that says the cause. ``StoreError``, or ConnectionError where none answered."""
    text = str(error)
    status, code, message = (pattern.search(text) for pattern in (_STATUS, _CODE, _MESSAGE))
    number = int(status[1]) if status else 0
    shown, _, debug = text.partition("Debug source:")
    url = _URL.search(shown)
    if _TOKEN.search(shown) or (url is not None and url[1] != "REDACTED" and bucket not in unquote(url[1])):
        return _without_credentials(shown, debug, number, code[1] if code else "", message)
    if code and code[1] in _CONFLICTS:
        return ConnectionAbortedError(f"another writer is at work on the object (HTTP status {number}, {code[1]})")
    if code and code[1] in _CAUSES:
        return StoreError(f"{_CAUSES[code[1]].format(bucket=bucket)} (HTTP status {number}, {code[1]})", number)
    if number in (301, 307, 308) or "redirect" in text.lower():
        return StoreError(f"{_REGION} (HTTP status {number or 301})", number or 301)
    if number:
        said = ", ".join(_in_one_line(found[1]) for found in (code, message or _JSON_MESSAGE.search(shown)) if found)
        return StoreError(f"HTTP status {number}{f', {said}' if said else ''}", number)
    if _NO_TLS.search(text):
        return StoreError("the endpoint does not speak TLS: give it with http://")
    kind = _KIND.search(text)
    if kind and kind[1] in _BROKEN:
        return ConnectionError(_BROKEN[kind[1]])
    return StoreError(_in_one_line(shown)[:500])


def _without_credentials(shown: str, debug: str, status: int, code: str, message: re.Match[str] | None) -> OSError:
    """Why the service that gives out credentials gave none. A busy one may answer when it is asked again."""
    found = message or _JSON_MESSAGE.search(shown)
    said = ", ".join(part for part in (code, _in_one_line(found[1]) if found else "") if part)
    kind = _KIND.search(debug)
    if status:
        why = f"HTTP status {status}{f', {said}' if said else ''}"
    elif kind and kind[1] in _BROKEN:
        why = _BROKEN[kind[1]]
    else:
        why = _in_one_line(shown)[:300]
    text = f"there are no credentials, as none are given and the service that would give some fails ({why})"
    return StoreError(text, status if status >= 500 or status == 429 else 401)


def _in_one_line(text: str) -> str:
    return " ".join(_REQUEST.sub("", text).split())
