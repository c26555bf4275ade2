"""A transcript's bytes verified as the grader does it: form and chain, then the replay."""

from grader.laboratory.episode import Episode
from grader.laboratory.replay import replay
from grader.laboratory.session import Laboratory
from grader.laboratory.transcript import TranscriptError, check_chain, read_lines


def verify(episode: Episode, data: bytes, key: bytes | None = None) -> Laboratory:
    """The finished session that ``data`` records; raises :class:`TranscriptError`.

    With ``key`` every line must carry the host's signature.
    """
    lines = read_lines(data)
    check_chain(lines, key)
    laboratory = replay(episode, lines)
    if laboratory.phase != "closed":
        raise TranscriptError(len(lines), "the transcript ends without its closing line")
    return laboratory
