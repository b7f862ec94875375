"""Formulas of linear temporal logic over the facts of a trace, as frozen trees.

In: nodes, made by hand or by `ltl` and `syntax`. Out: the same nodes printed, matched and
decomposed into the parts that are watched one by one. Nothing here knows what an event is.
"""

from sponsio_like.logic.call_matches import Field, Tools, named, string, target, var, where
from sponsio_like.logic.decomposition import Decomposition, conjuncts, decompose, looks_ahead
from sponsio_like.logic.misread import syntax_mistake
from sponsio_like.logic.operators import WX, WY, F, G, H, O, R, S, U, W, X, Y, bound, initially
from sponsio_like.logic.printer import RESERVED, show
from sponsio_like.logic.targets import is_glob
from sponsio_like.logic.tree import PARSERS

# fmt: off
__all__ = [
    "PARSERS", "RESERVED", "WX", "WY", "Decomposition", "F", "Field", "G", "H", "O", "R", "S",
    "Tools", "U", "W", "X", "Y", "bound", "conjuncts", "decompose", "initially", "is_glob",
    "looks_ahead", "named", "show", "string", "syntax_mistake", "target", "var", "where",
]
# fmt: on
