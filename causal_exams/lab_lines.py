"""The laboratory over JSON lines: one request a line in, one reply a line out."""

from typing import BinaryIO, Final

from causal_exams.lab_session import Session
from grader.io.jsonio import BadJson, canonical, parse_strict

MAX_REQUEST: Final = 1 << 16


def reply_to(session: Session, line: bytes) -> str:
    """The reply to one request line, without its line feed."""
    if len(line) > MAX_REQUEST:
        error = f"a line of over {MAX_REQUEST >> 10} KiB; shorten it"
        return canonical(session.refuse("request", error, "a line that is too long"))
    try:
        document = parse_strict(line)
    except BadJson as problem:
        shown = ascii(line[:80].decode("utf-8", errors="replace"))
        error = f'not JSON ({problem.message}); send one object a line, such as {{"op":"status"}}'
        return canonical(session.refuse("request", error, shown))
    return canonical(session.request(document))


def serve(session: Session, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until the requests end or nobody reads the replies; blank lines are skipped."""
    try:
        _write(replies, canonical(session.greeting()))
        while line := requests.readline(MAX_REQUEST + 2):
            if not line.endswith(b"\n") and len(line) > MAX_REQUEST:
                _skip_rest(requests)
            if line.strip():
                _write(replies, reply_to(session, line.rstrip(b"\r\n")))
    except BrokenPipeError:
        return  # the agent is gone; its transcript is on disk and can be resumed


def _skip_rest(requests: BinaryIO) -> None:
    while part := requests.readline(MAX_REQUEST):
        if part.endswith(b"\n"):
            return


def _write(replies: BinaryIO, text: str) -> None:
    replies.write(text.encode("utf-8") + b"\n")
    replies.flush()
