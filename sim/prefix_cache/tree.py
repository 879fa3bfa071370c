"""The tree of all prefixes that a cache or a prompt still needs."""

from __future__ import annotations

from collections.abc import Hashable

__all__ = ["Node", "PrefixTree"]

_Edge = tuple[int, Hashable, int, int]


class Node:
    """A prefix: its parent's and one more segment, told apart by content alone.

    *depth* counts its segments, *end* their tokens. *jump* is an ancestor some way up, so that
    any ancestor is reached in a logarithmic number of steps (skew-binary jump pointers: Myers,
    "An applicative random-access stack", 1983). The root is its own parent.
    """

    __slots__ = ("depth", "edge", "end", "jump", "number", "parent", "refs")

    parent: Node
    jump: Node

    def __init__(self, parent: Node | None, edge: _Edge, number: int) -> None:
        self.edge = edge
        self.number = number
        self.refs = 0
        if parent is None:
            self.parent = self.jump = self
            self.depth = self.end = 0
        else:
            far = parent.jump
            even = parent.depth - far.depth == far.depth - far.jump.depth
            self.parent = parent
            self.jump = far.jump if even else parent
            self.depth = parent.depth + 1
            self.end = parent.end + edge[3]


class PrefixTree:
    """A tree of nodes in which equal prefixes are one node.

    A node stays as long as it is pinned or has a child; its length is the number of nodes,
    without the root.
    """

    __slots__ = ("_edges", "_numbers", "root")

    def __init__(self) -> None:
        self._edges: dict[_Edge, Node] = {}
        self._numbers = 0
        self.root = Node(None, (0, None, 0, 0), 0)
        self.root.refs = 1

    def __len__(self) -> int:
        return len(self._edges)

    def child(self, parent: Node, key: Hashable, version: int, tokens: int) -> Node:
        """Return the node for *parent* and one more segment, unpinned if it is new."""
        edge = (parent.number, key, version, tokens)
        node = self._edges.get(edge)
        if node is None:
            self._numbers += 1
            node = self._edges[edge] = Node(parent, edge, self._numbers)
            parent.refs += 1
        return node

    def pin(self, node: Node) -> None:
        """Keep *node* until it is unpinned as often as it was pinned."""
        node.refs += 1

    def unpin(self, node: Node) -> None:
        """Take back one pin, and drop what nothing needs any more."""
        node.refs -= 1
        while not node.refs:
            del self._edges[node.edge]
            node = node.parent
            node.refs -= 1
