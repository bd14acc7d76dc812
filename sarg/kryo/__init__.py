"""Kryo bytes to an object graph, by layout tables alone. No class named in the bytes is ever imported.

    envelope   Base64 text or bytes, to the bytes of Kryo
    profiles   which Kryo generation and which tables read the bytes: tried in a fixed order
    reader     the object graph, with ``wire`` (numbers and strings) and ``scalars`` (single values)
    layout     how each class is written, from the JSON tables in ``layouts``
    values     JavaObject, JavaList and Boxed, of which the graph consists
    limits     bounds on depth, sizes and counts
    errors     DecodeError

Imports the evaluator's error base only.
"""
