"""The next request of one agent, edited in place."""

from __future__ import annotations

from collections.abc import Hashable

from sim.prefix_cache.tree import Node, PrefixTree

__all__ = ["Prompt"]

_HEAD_KINDS = ("tools", "system")
_RUN_KINDS = ("tool_call", "tool_result")


class Prompt:
    """An ordered request as a path of nodes in the tree of one cache.

    Its length is the number of segments. An edit is a cut at the first change and appends from
    there. Two segments are the same content if key, version and tokens agree; the kind only
    decides where a default breakpoint stands and which segments make up one position.
    """

    __slots__ = ("_heads", "_positions", "_starts", "_tail", "path", "tree")

    def __init__(self, tree: PrefixTree) -> None:
        self.tree = tree
        self.path: list[Node] = [tree.root]
        """The node of every leading part, the empty one first; not to be changed from outside."""
        self._heads: list[int] = [0]
        self._positions: list[int] = [0]
        self._starts: list[int] = [0]
        self._tail: list[str] = [""]
        tree.pin(tree.root)

    def __len__(self) -> int:
        return len(self.path) - 1

    def close(self) -> None:
        """Give back all that only this request needed of the tree; it is empty from then on."""
        self.truncate(0)

    @property
    def tokens(self) -> int:
        """Tokens of the whole request."""
        return self.path[-1].end

    @property
    def head(self) -> int:
        """Number of leading segments up to and with the last `tools` or `system` segment."""
        return self._heads[-1]

    def append(self, key: Hashable, version: int, tokens: int, kind: str) -> None:
        """Add a segment at the end.

        Raises ValueError for a key that cannot be hashed, tokens or a version that are no whole
        number, negative tokens, or a kind that is no text.
        """
        if type(tokens) is not int or type(version) is not int or not isinstance(kind, str):
            raise ValueError(
                "a segment needs whole numbers as version and tokens and text as kind, "
                f"not {version!r}, {tokens!r} and {kind!r}"
            )
        if tokens < 0:
            raise ValueError(f"a segment cannot have {tokens} tokens")
        path = self.path
        last = path[-1]
        try:
            node = self.tree.child(last, key, version, tokens)
        except TypeError:
            raise ValueError(f"the key of a segment must be hashable, not {key!r}") from None
        node.refs += 1
        last.refs -= 1
        in_run = kind in _RUN_KINDS and kind == self._tail[-1]
        self._starts.append(self._starts[-1] if in_run else len(path) - 1)
        self._positions.append(self._positions[-1] + (not in_run))
        self._heads.append(len(path) if kind in _HEAD_KINDS else self._heads[-1])
        self._tail.append(kind)
        path.append(node)

    def truncate(self, length: int) -> None:
        """Cut to the leading *length* segments. Raises ValueError if there are fewer."""
        if type(length) is not int or not 0 <= length <= len(self):
            raise ValueError(f"cannot cut {len(self)} segments to {length!r}")
        last = self.path[-1]
        for column in (self.path, self._heads, self._positions, self._starts, self._tail):
            del column[length + 1 :]
        self.tree.pin(self.path[-1])
        self.tree.unpin(last)

    def position_start(self, length: int) -> int:
        """Return how many segments lie before the last position of the leading *length* ones.

        A run of `tool_call`, or of `tool_result`, segments is one position, any other segment
        is one (Anthropic's rule for the look-back from a breakpoint).
        """
        return self._starts[length]

    def positions(self, length: int) -> int:
        """Return how many positions the leading *length* segments make up."""
        return self._positions[length]

    def shared(self, node: Node) -> Node:
        """Return the longest prefix of *node* that this request begins with."""
        path = self.path
        length = len(path) - 1
        while node.depth > length:
            jump = node.jump
            node = jump if jump.depth >= length else node.parent
        while path[node.depth] is not node:
            jump = node.jump
            node = node.parent if path[jump.depth] is jump else jump
        return node
