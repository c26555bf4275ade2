"""What can go wrong with an answer file: files of another kind, and texts made from a right one."""

import json
import os
from collections.abc import Callable
from pathlib import Path

Malformed = dict[str, tuple[str, bytes]]
"""By what went wrong: the reason code, empty where it depends on the variant, and the bytes."""


def sparse(size: int) -> Callable[[Path], None]:
    """What makes a file of nothing, so long."""

    def make(file: Path) -> None:
        with file.open("wb") as handle:
            handle.truncate(size)

    return make


def _a_byte_too_long(file: Path) -> None:
    sparse((1 << 20 if file.suffix == ".json" else 16 << 20) + 1)(file)


def _link_outside(file: Path) -> None:
    outside = file.parent.parent / "outside.json"
    outside.write_text('{"ate": 1.0}', encoding="utf-8")
    file.symlink_to(outside)


def _link_in_folder(file: Path) -> None:
    (file.parent / "real.json").write_text('{"ate": 1.0}', encoding="utf-8")
    file.symlink_to("real.json")


ODD_FILES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "200 MB": ("too_large", sparse(200 << 20), "MiB"),
    "a byte too long": ("too_large", _a_byte_too_long, "MiB"),
    "directory": ("unreadable", Path.mkdir, "is a directory"),
    "FIFO": ("unreadable", os.mkfifo, "not a regular file"),
    "link outside": ("unreadable", _link_outside, "symbolic link"),
    "link inside": ("unreadable", _link_in_folder, "symbolic link"),
    "link to a device": ("unreadable", lambda file: file.symlink_to("/dev/zero"), "symbolic link"),
    "broken link": ("unreadable", lambda file: file.symlink_to("nowhere"), "symbolic link"),
    "link to itself": ("unreadable", lambda file: file.symlink_to(file), "symbolic link"),
}
"""By what is there: the reason code, what makes it, and words of the message."""


def json_malformations(text: str) -> Malformed:
    data, document = text.encode().strip(), json.loads(text)
    (field, value), *_ = document.items()
    key = json.dumps(field).encode()
    escaped = json.dumps(field).replace(field[0], f"\\u{ord(field[0]):04x}", 1).encode()
    deep = b"[" * 100_000

    def given(content: bytes) -> bytes:
        return b"{" + key + b": " + content + b"}"

    def beside(more: bytes) -> bytes:
        return data[:-1] + b", " + more + b"}"

    out: Malformed = {
        f"cut at {k}/8": ("not_json", data[: max(1, len(data) * k // 8)]) for k in range(1, 8)
    }
    for reason, values in {
        "non_finite": (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"[NaN]"),
        "huge_number": (b"1" * 30, b"1" * 5000, b"-" + b"9" * 1_000_000),
        "too_deep": (deep + b"]" * 100_000, b"[" * 99),
        "encoding": (b'"\xff"', b'"\\ud800"'),
        "not_json": (b"'x'", b"0x1", b"1_0", b"01", b"+1", b".5", b'"a\nb"', b"",
                     b"undefined", b"1,"),
        "": (b"true", b"{}", b'{"a": 1}', b"[[[[]]]]", b"[null]", b'"certainly"', b'"1.5"',
             b"[" + b"1," * 10_000 + b"1]"),
    }.items():  # fmt: skip
        out |= {f"field is {v[:20]!r}, {len(v)} long": (reason, given(v)) for v in values}
    out |= {
        "other case": ("absent_field", json.dumps({field.upper(): value}).encode()),
        "nested": ("absent_field", json.dumps({"answer": document}).encode()),
        "listed": ("not_object", json.dumps([document]).encode()),
        "text": ("not_object", json.dumps(text).encode()),
        "number": ("not_object", b"1.0"),
        "null": ("not_object", b"null"),
        "true": ("not_object", b"true"),
        "twice": ("not_json", data + data),
        "twice the key": ("duplicate_key", b"{" + key + b": 1, " + key + b": 1}"),
        "twice the key, escaped": ("duplicate_key", b"{" + key + b": 1, " + escaped + b": 1}"),
        "twice a key inside": ("duplicate_key", beside(b'"x": {"a": 1, "a": 1}')),
        "NaN beside": ("non_finite", beside(b'"note": NaN')),
        "Latin-1 beside": ("encoding", beside(b'"note": "\xe9"')),
        "raw surrogate": ("encoding", beside(b'"note": "\xed\xa0\x80"')),
        "escaped lone surrogate": ("encoding", beside(b'"note": "\\ud800"')),
        "surrogate key": ("encoding", beside(b'"\\uDC00": 1')),
        "control character": ("not_json", beside(b'"note": "\x1b[2J"')),
        "single quotes": ("not_json", b"{'" + field.encode() + b"': 1}"),
        "comment": ("not_json", data + b" // one"),
        "trailing comma": ("not_json", data[:-1] + b",}"),
        "fenced": ("not_json", b"```json\n" + data + b"\n```"),
        "prose": ("not_json", b"The answer is " + data),
        "mark": ("encoding", b"\xef\xbb\xbf" + data),
        "utf-16": ("encoding", text.encode("utf-16")),
        "nul before": ("not_json", b"\x00" + data),
        "nul after": ("not_json", data + b"\x00"),
        "deep": ("too_deep", deep),
        "deep objects": ("too_deep", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        "blank": ("empty", b" \n\t "),
        "nothing": ("empty", b""),
        "huge": ("too_large", data + b" " * (1 << 20)),
    }
    return out


def csv_malformations(text: str) -> Malformed:
    header, *rows = text.splitlines()
    rest = ",".join(rows[0].split(",")[1:])

    def cell(value: str) -> bytes:
        first = value + ("," + rest if rest else "")
        return "\n".join([header, first, *rows[1:]]).encode()

    out: Malformed = {}
    for reason, values in {
        "not_a_number": (
            "nan", "inf", "-inf", "1e999", "1e99999", "1_0", "0x1", "0x1p3", '"1,5"', "1.2.3",
            "--1", "1e", "e1", "true", "null", "NA", '""', " ", "1 2", "$1", "1%", "１", "٣", "½",
            "\x00", "1\x00", "=1", "1e12345", "9" * 100_000, "∞",
        ),
        "not_csv": ('"1', '"1"x', "9" * 200_000, "9" * 5_000_000),
    }.items():  # fmt: skip
        out |= {f"cell is {v[:20]!r}, {len(v)} long": (reason, cell(v)) for v in values}
    out |= {
        f"{k} rows": ("wrong_length", "\n".join([header, *(rows * 3)[:k]]).encode())
        for k in (0, 1, 3, 5, 12)
    }
    out |= {
        "a million rows": ("wrong_length", "\n".join([header, *rows[:1] * 10**6]).encode()),
        "1,000 columns": ("wrong_columns", b",".join([b"prediction"] * 1000) + b"\n"),
        "no header": ("wrong_columns", "\n".join(rows).encode()),
        "upper header": ("wrong_columns", "\n".join([header.upper(), *rows]).encode()),
        "header twice": ("wrong_columns", "\n".join([f"{header},{header}", *rows]).encode()),
        "semicolons": (
            "wrong_columns", text.replace(",", ";").replace("prediction", "prediction;x").encode()
        ),
        "tabs": (
            "wrong_columns", text.replace(",", "\t").replace("prediction", "prediction\tx").encode()
        ),
        "5 MB header": ("not_csv", b"x" * 5_000_000 + b"\n1\n1\n1\n1\n"),
        "utf-16": ("encoding", text.encode("utf-16")),
        "latin-1": ("encoding", b"\xe9" + text.encode()),
        "Parquet": ("encoding", b"PAR1\x15\x04\x15\xff\xfe"),
        "json": ("wrong_columns", json.dumps({"prediction": [1]}).encode()),
        "blank": ("empty", b"\n\n"),
        "nothing": ("empty", b""),
        "mark": ("empty", b"\xef\xbb\xbf"),
        "huge": ("too_large", text.encode() + b" " * (16 << 20)),
    }  # fmt: skip
    return out


def malformations(text: str, suffix: str) -> Malformed:
    """Everything that can go wrong with the right answer ``text`` to a task of that suffix."""
    return json_malformations(text) if suffix == ".json" else csv_malformations(text)
