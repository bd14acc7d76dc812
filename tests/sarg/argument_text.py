"""The text of a SearchArgument, as storage-api 2.8 prints it. The corpus has that text for every SearchArgument."""

from sarg.hive_tree.searchargument import ArgumentTree


def argument_text(tree):
    """The tree as storage-api 2.8 prints it: ``(and leaf-(EQUALS a 5) (not leaf-(IS_NULL b)))``."""
    pieces = []
    stack = [tree]
    while stack:
        node = stack.pop()
        match node:
            case str():
                pieces.append(node)
            case ArgumentTree(operator="LEAF", leaf=leaf):
                pieces.append(f"leaf-{leaf_text(leaf)}")
            case ArgumentTree(operator="CONSTANT", constant=constant):
                pieces.append(str(constant))
            case ArgumentTree(operator=operator, children=children):
                stack.append(")")
                for child in reversed(children):
                    stack.extend((child, " "))
                pieces.append("(" + operator.lower())
    return "".join(pieces)


def leaf_text(leaf):
    """A leaf, such as ``(EQUALS a 5)`` or ``(IN a 1 2 null)``."""
    literals = (leaf.literal,) if leaf.literals is None else leaf.literals
    if leaf.literals is None and leaf.literal is None and leaf.operator != "NULL_SAFE_EQUALS":
        literals = ()
    return " ".join(["(" + leaf.operator, leaf.column, *("null" if c is None else str(c) for c in literals)]) + ")"
