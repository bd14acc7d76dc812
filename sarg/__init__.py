"""Decodes the filter that Hive pushes into a table: a value of the job configuration to a ``HudiExpression``.

>>> import sarg
>>> str(sarg.decode(job_conf["hive.io.filter.expr.serialized"]))   # doctest: +SKIP
'(a < 5 AND s = \\'x\\')'

    decode            the filter as HudiExpression
    decode_exprnode   the typed Hive tree, before translation (a SearchArgument has none)
    decode_detailed   both, with the profile that read it

The input is Base64 text (standard or URL-safe, with or without white space) or bytes. It contains an
ExprNodeGenericFuncDesc (``hive.io.filter.expr.serialized``) or a SearchArgument (``sarg.pushdown``). The input is not
trusted: classes that it names are never instantiated, and ``sarg.kryo.limits`` bounds depth, sizes and counts. Every
failure is a ``DecodeError``.

    bytes  ──►  ``kryo``: object graph  ──►  ``hive_tree``: typed tree  ──►  ``translation``: HudiExpression

A condition that is not understood is Unknown at its node (C1). Literals are exact or unknown (C7): literals of a
SearchArgument are not exact, and ``sarg.translation.demote`` widens them.

The package imports ``evaluator.language`` only. Public names are imported at their first use: a filter that is SQL text
needs nothing of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sarg.decoding import Decoded as Decoded
    from sarg.decoding import decode as decode
    from sarg.decoding import decode_detailed as decode_detailed
    from sarg.decoding import decode_exprnode as decode_exprnode
    from sarg.hive_tree.exprnode import ExprNode as ExprNode
    from sarg.hive_tree.searchargument import SearchArgument as SearchArgument
    from sarg.kryo.errors import DecodeError as DecodeError
    from sarg.kryo.errors import TooLargeError as TooLargeError
    from sarg.kryo.limits import Limits as Limits

#: public name -> the module that defines it
_MODULES = {
    "DecodeError": "kryo.errors",
    "Decoded": "decoding",
    "ExprNode": "hive_tree.exprnode",
    "Limits": "kryo.limits",
    "SearchArgument": "hive_tree.searchargument",
    "TooLargeError": "kryo.errors",
    "decode": "decoding",
    "decode_detailed": "decoding",
    "decode_exprnode": "decoding",
}

__all__ = [
    "DecodeError",
    "Decoded",
    "ExprNode",
    "Limits",
    "SearchArgument",
    "TooLargeError",
    "decode",
    "decode_detailed",
    "decode_exprnode",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
