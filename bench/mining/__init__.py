"""How often a mined query is right: a sample of them, shown to be judged, and the precision."""

from bench.mining.arguments import KINDS, kind_of
from bench.mining.pairs import Pair, draw, pairs_in
from bench.mining.passages import passages
from bench.mining.precision import LABELS, Judged, Precision, precision, read_table, table

__all__ = [
    "KINDS",
    "LABELS",
    "Judged",
    "Pair",
    "Precision",
    "draw",
    "kind_of",
    "pairs_in",
    "passages",
    "precision",
    "read_table",
    "table",
]
