"""Object graphs to typed trees: Hive's ExprNodeDesc and SearchArgument, with their constants and types.

    build            graph of an ExprNodeGenericFuncDesc to an ``exprnode`` tree
    searchargument   graph of a SearchArgumentImpl to an ``ArgumentTree``
    constants        Java values, and ``java_text``, the text that Java prints for them
    typeinfo         TypeInfo objects as Hive's type texts

Imports ``kryo`` and the evaluator's language.
"""
