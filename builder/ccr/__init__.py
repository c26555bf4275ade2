"""The ccr track: contexts whose causal quantities compose, and questions that show whether
answers do.

Public functions: ``exact_quantities(context)`` and ``enumerated_quantities(context)`` give
``{pair: {"pns", "pn", "ps", "ate"}}`` as fractions, ``cut_tree(dag)`` the commutative cut tree,
``compositions(cut_tree)`` its indirect paths, ``prompts(row)`` every full prompt of a task.
"""

from builder.ccr.ask.text import Prompt, prompts
from builder.ccr.make.graph import CutTree, compositions, cut_tree, numbered, sorted_graph
from builder.ccr.make.model import BooleanContext, LinearContext
from builder.ccr.make.quantities import enumerated_quantities, exact_quantities

__all__ = [
    "BooleanContext",
    "CutTree",
    "LinearContext",
    "Prompt",
    "compositions",
    "cut_tree",
    "enumerated_quantities",
    "exact_quantities",
    "numbered",
    "prompts",
    "sorted_graph",
]
