"""What hdfs-native says when something fails, in words: the cause, and what to do, without Java's stack traces.

    FileNotFoundError           there is no such file, or it is a directory
    PermissionError             the NameNode refuses, or there is no Kerberos ticket
    ConnectionError             no NameNode answers, or all of them are standby: it may pass
    OSError                     the rest

A panic of the package is no ``Exception`` in Python, and becomes an OSError here.
"""

from __future__ import annotations

import re

__all__ = ["cause_of", "is_panic"]

#: ``RPCError("java.class.Name", "message\n\tat ...")``, as Rust writes an error for programmers.
_RPC = re.compile(r'(?:Fatal)?RPCError\("([\w.$]+)", "((?:[^"\\]|\\.)*)"\)', re.DOTALL)
_KIND = re.compile(r"\A([A-Z]\w+)\((.*)\)\Z", re.DOTALL)
_TICKET = (
    "give the options kerberos_principal and kerberos_keytab (of the sidecar: the settings of these names), "
    "or kinit beside this process and name its cache by KRB5CCNAME"
)
#: What Kerberos says, and what is meant: the first that fits, for any failure also says that there is no credential.
_KERBEROS: tuple[tuple[str, str], ...] = (
    (r"(?i)expired", f"the Kerberos ticket has expired: {_TICKET}"),
    (r"(?i)clock skew", "the clock of this machine and that of the Kerberos server differ by more than they may"),
    (r"(?i)server not found in kerberos database|unknown server",
     "Kerberos knows no service of this host name: use the name that dfs.namenode.kerberos.principal has (_HOST), "
     "and no address or alias"),
    (r"(?i)client not found in kerberos database", "Kerberos does not know the principal"),
    (r"(?i)cannot contact any kdc|cannot find kdc|cannot resolve.*realm",
     "no Kerberos server answers: look at the realm and its kdc in krb5.conf (KRB5_CONFIG)"),
    (r"(?i)keytab.*(not found|no such|permission|cannot)|no suitable keys|key table",
     "the keytab cannot be read, or has no key of the principal: klist -k KEYTAB shows what it has"),
    (r"(?i)libgssapi",
     "the library of Kerberos is missing: apt-get install libgssapi-krb5-2, or yum install krb5-libs"),
    (r"(?i)no credentials cache found|no kerberos credentials|no credentials were supplied|GSS_S_NO_CRED\b",
     f"there is no Kerberos ticket: {_TICKET}"),
)  # fmt: skip
_SECURED = (
    "the cluster wants Kerberos and this process does not use it: HADOOP_CONF_DIR must name Hadoop's configuration "
    f"with hadoop.security.authentication=kerberos; {_TICKET}"
)


def is_panic(error: BaseException) -> bool:
    """Whether the package's Rust code has given up in the middle of a call."""
    return type(error).__name__ == "PanicException"


def cause_of(error: BaseException) -> OSError:
    """The error of the package as one that says the cause."""
    text = str(error)
    if is_panic(error):
        return OSError(f"hdfs-native gave up: {_first_line(text)}")
    if isinstance(error, FileNotFoundError):
        is_other = "not a file" in text or "not a directory" in text
        return FileNotFoundError(_first_line(text) if is_other else "no such file")
    if isinstance(error, FileExistsError | IsADirectoryError):
        return type(error)(_first_line(text))
    rpc = _RPC.search(text)
    if rpc is not None:
        return _of_rpc(rpc[1], _unescaped(rpc[2]))
    for pattern, meaning in _KERBEROS if re.search("(?i)gss|kerberos|krb|keytab", text) else ():
        if re.search(pattern, text):
            return PermissionError(f"access is denied: {meaning} ({_first_line(_plain(text))})")
    if re.search(r"(?i)NoSASLMechanism|no (?:valid|supported) sasl", text):
        return PermissionError(f"access is denied: {_SECURED}")
    if re.search(r"(?i)SASLError|GSSAPIError", text):
        return PermissionError(f"access is denied: {_first_line(_plain(text))}; {_TICKET}")
    if "RPC listener disconnected" in text:
        return ConnectionAbortedError(f"the NameNode closed the connection; where that is so each time, {_SECURED}")
    if isinstance(error, OSError) or re.search(r"(?i)timed? ?out|connection|DataNode|BlocksNotFound", text):
        return ConnectionError(_first_line(_plain(text)))
    return OSError(_first_line(_plain(text)))


def _of_rpc(name: str, message: str) -> OSError:
    """An exception of the NameNode."""
    short, line = name.rpartition(".")[2], _first_line(message)
    if short == "StandbyException":
        return ConnectionError("this NameNode is standby, and no other one is known: name the nameservice instead")
    if short in ("RetriableException", "SafeModeException"):
        return ConnectionError(f"the NameNode cannot do it now: {line}")
    if short == "AccessControlException" and re.search("(?i)SIMPLE authentication is not enabled", line):
        return PermissionError(f"access is denied: {_SECURED} ({line})")
    if short in ("AccessControlException", "AuthorizationException", "SaslException", "InvalidToken"):
        return PermissionError(f"access is denied: {line}")
    if short == "FileNotFoundException":
        return FileNotFoundError("no such file")
    if short == "PathIsNotEmptyDirectoryException":
        return OSError(line)
    return OSError(f"{short}: {line}")


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")


def _plain(text: str) -> str:
    """``OperationFailed("text")`` as ``text``."""
    match = _KIND.match(text)
    return text if match is None else _unescaped(match[2].strip().strip('"')) or match[1]


def _first_line(text: str) -> str:
    """Without the stack trace that Hadoop puts below a message."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return " ".join(" ".join(lines[:2]).split())[:500] or "it says nothing more"
