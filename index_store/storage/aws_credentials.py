"""Where keys of AWS come from when none are given, in the order of the AWS SDKs.

    profile option          the keys of that profile
    environment             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN       read by obstore
    web identity            AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN                         read by obstore
    profile                 of AWS_PROFILE, or ``default``
    container, machine      AWS_CONTAINER_CREDENTIALS_*, the metadata service                 read by obstore

A profile that holds no keys but a role, a process or a login (SSO) is left to pyarrow, whose SDK knows them. The files
of a profile are read again after some minutes, because tools write new keys into them.
Source: https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from evaluator.language.records import frozen

__all__ = ["Keys", "Provider", "keys_of", "looked_up", "read_profile"]

#: obstore asks for keys anew when they are valid for less than five minutes.
_READ_AGAIN = timedelta(minutes=10)
_MAX_BYTES = 1 << 20
_OTHER_WAYS = ("role_arn", "credential_process", "sso_session", "sso_start_url", "sso_account_id", "login_session")


@frozen(shown=False)
class Keys:
    """Keys of one user or session."""

    access_key: str
    secret_key: str
    session_token: str = ""

    def credential(self, expires: datetime | None = None) -> dict[str, Any]:
        """What obstore takes."""
        return {
            "access_key_id": self.access_key,
            "secret_access_key": self.secret_key,
            "token": self.session_token or None,
            "expires_at": expires,
        }

    def provider(self) -> Provider:
        return Provider(self.credential)


@frozen(shown=False)
class Provider:
    """``provide`` gives a credential; None: obstore finds one by itself."""

    provide: Callable[[], dict[str, Any]] | None = None


def looked_up(profile: str) -> Provider | None:
    """Where the keys come from; None where only the SDK knows. Raises ValueError for a profile that is not there.

    ``profile``: of the option, which counts before the environment; "" without one.
    """
    variables = os.environ
    if not profile and (
        (variables.get("AWS_ACCESS_KEY_ID") and variables.get("AWS_SECRET_ACCESS_KEY"))
        or variables.get("AWS_WEB_IDENTITY_TOKEN_FILE")
    ):
        return Provider()
    named = profile or variables.get("AWS_PROFILE", "")
    name = named or "default"
    settings = read_profile(name)
    if settings is None:
        if named:
            raise ValueError(f"there is no AWS profile {name}")
        return Provider()
    if keys_of(settings) is not None:

        def provide() -> dict[str, Any]:
            keys = keys_of(read_profile(name) or {})
            if keys is None:
                raise ValueError(f"credential provider: the AWS profile {name} holds no keys any more")
            return keys.credential(datetime.now(timezone.utc) + _READ_AGAIN)

        return Provider(provide)
    if any(one in settings for one in _OTHER_WAYS):
        if profile not in ("", variables.get("AWS_PROFILE", "")):
            raise ValueError(f"the AWS profile {name} holds no keys but another way to them: name it in AWS_PROFILE")
        return None
    if profile:
        raise ValueError(f"the AWS profile {name} holds no keys")
    return Provider()


def read_profile(name: str) -> Mapping[str, str] | None:
    """The settings of a profile in both files, keys of the first file first; None where there is none."""
    found: dict[str, str] = {}
    known = False
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        path = Path(os.environ.get(variable) or Path.home() / ".aws" / file).expanduser()
        settings = _sections(path).get(section)
        if settings is not None:
            known = True
            found |= settings
    return found if known else None


def keys_of(settings: Mapping[str, str]) -> Keys | None:
    """The keys that a profile holds; None for one that takes on a role with them."""
    if "role_arn" in settings:
        return None
    access, secret = settings.get("aws_access_key_id", ""), settings.get("aws_secret_access_key", "")
    return Keys(access, secret, settings.get("aws_session_token", "")) if access and secret else None


def _sections(path: Path) -> Mapping[str, Mapping[str, str]]:
    """The sections of an INI file; a file that is not there has none. Raises ValueError, without what the file says."""
    import configparser  # for those who name a profile

    parser = configparser.RawConfigParser(default_section="", strict=False, allow_no_value=True)
    try:
        with path.open(encoding="utf-8") as file:
            parser.read_string(file.read(_MAX_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ValueError(f"the AWS file {path} cannot be read: {error.strerror}") from None
    except (configparser.Error, UnicodeDecodeError):
        raise ValueError(f"the AWS file {path} is no INI file") from None
    return {
        " ".join(name.split()): {key: (value or "").strip() for key, value in parser.items(name)}
        for name in parser.sections()
    }
