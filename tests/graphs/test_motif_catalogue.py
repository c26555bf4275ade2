"""The motif catalogue and the labels it ships with."""

import pytest

from builder.graphs.identification import identification_method, is_identifiable
from builder.graphs.motifs import MOTIFS

# The paper's table, retyped as edge lists: name -> (edges, latent nodes, treatment).
CATALOGUE = {
    "chain": ("XM MY", "", "X"),
    "mediation": ("XM MY XY", "", "X"),
    "confounding": ("ZX ZY XY", "", "X"),
    "fork": ("ZX ZY", "", "X"),
    "collider": ("XZ YZ", "", "X"),
    "arrowhead": ("X-V2 V1-V2 X-Y V1-Y V2-Y", "", "X"),
    "diamond": ("X-M1 M1-Y X-M2 M2-Y", "", "X"),
    "diamondcut": ("V1-V2 V1-X X-Y V2-Y", "", "X"),
    "frontdoor": ("XZ ZY UX UY", "U", "X"),
    "iv": ("ZX XY UX UY", "U", "X"),
    "double_nc": ("UA UY UZ UW AY", "U", "A"),
    "triangle": ("X-Y X-V3 Y-V3", "", "X"),
}

# name -> method, then identifiability of ATE (= binary ETT), continuous ETT, NDE, NIE, and why.
LABELS = {
    "chain": ("backdoor", True, True, True, True, "nothing unmeasured"),
    "mediation": ("backdoor", True, True, True, True, "nothing unmeasured"),
    "confounding": ("backdoor", True, True, True, True, "adjust for Z"),
    "fork": ("trivial_zero", True, True, True, True, "X is no cause of Y"),
    "collider": ("trivial_zero", True, True, True, True, "X is no cause of Y"),
    "arrowhead": ("backdoor", True, True, True, True, "V1 is observed"),
    "diamond": ("backdoor", True, True, True, True, "nothing unmeasured"),
    "diamondcut": ("backdoor", True, True, True, True, "V1 or V2 blocks the back door"),
    "frontdoor": ("frontdoor", True, True, True, True, "NDE is zero, NIE is the whole effect"),
    "iv": ("none", False, False, False, True, "an instrument alone; no mediator, so NIE is zero"),
    "double_nc": ("none", False, False, False, True, "proxies alone; NIE is zero"),
    "triangle": ("backdoor", True, True, True, True, "V3 is a common effect"),
}


def test_the_catalogue_is_the_table_of_the_paper() -> None:
    """A motif with a wrong edge would be drawn, told and labelled consistently wrong."""
    assert list(MOTIFS) == list(CATALOGUE)
    for name, (edges, latent, treatment) in CATALOGUE.items():
        motif = MOTIFS[name]
        pairs = {tuple(e.split("-")) if "-" in e else (e[0], e[1]) for e in edges.split()}
        assert motif.name == name
        assert set(motif.graph.edges) == pairs
        assert motif.graph.latent == set(latent)
        assert (motif.treatment, motif.outcome) == (treatment, "Y")


@pytest.mark.parametrize("name", LABELS)
def test_every_motif_has_its_known_labels(name: str) -> None:
    """These labels are graded; each was derived by hand from the literature."""
    method, ate, ett, nde, nie, why = LABELS[name]
    motif = MOTIFS[name]
    query = (motif.graph, motif.treatment, motif.outcome)
    assert identification_method(*query) == method, why
    assert is_identifiable(*query, "ate") is ate, why
    assert is_identifiable(*query, "ett", binary_treatment=True) is ate, why
    assert is_identifiable(*query, "ett") is ett, why
    assert is_identifiable(*query, "nde") is nde, why
    assert is_identifiable(*query, "nie") is nie, why
