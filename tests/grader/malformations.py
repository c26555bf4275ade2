"""What can go wrong with an answer file, generated from a right one."""

import json

PARSER_FAILURES = (
    ("nothing in the file; an empty file is no abstention", "", "empty"),
    ("cut off", "{", "not_json"),
    ("fenced as in a chat reply", "```json\n%(right)s\n```", "not_json"),
    ("a bare null names no field, so it abstains from nothing", "null", "not_object"),
    ("a list around the object", "[%(right)s]", "not_object"),
    ("which of the two is meant?", '{"%(field)s": 1, "%(field)s": 1}', "duplicate_key"),
    ("no JSON number", '{"%(field)s": NaN}', "non_finite"),
    ("beyond a double, read as infinity by careless parsers", '{"%(field)s": 1e999}', "non_finite"),
    ("19 digits; 18 are read", '{"%(field)s": 1111111111111111111}', "huge_number"),
    ("an object in place of the answer", '{"%(field)s": {}}', "schema"),
)
"""What no answer of any shape may be: why, the text made of a right one, the reason code."""


def parser_failures(right: str) -> list[tuple[str, str, str]]:
    """Why, text and reason code of every failure above, made of the right answer ``right``."""
    (field, *_) = json.loads(right)
    return [
        (why, text % {"right": right, "field": field}, reason)
        for why, text, reason in PARSER_FAILURES
    ]


def json_malformations(text: str) -> dict[str, bytes]:
    """What can go wrong with a JSON file, whatever the variant."""
    data, document = text.encode(), json.loads(text)
    (field, value), *_ = document.items()
    key = json.dumps(field).encode()
    out = {f"cut at {k}/8": data.strip()[: max(1, len(data.strip()) * k // 8)] for k in range(1, 8)}
    out |= {
        f"field is {v!r}": b"{" + key + b": " + v + b"}"
        for v in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" * 30, b"1" * 5000,
                  b"true", b"{}", b"{\"a\": 1}", b"[[[[]]]]", b"[null]", b"[NaN]", b"'x'", b"0x1",
                  b"1_0", b"01", b"+1", b".5", b"\"\xff\"", b"\"\\ud800\"", b"[" * 99, b"\"a\nb\"",
                  b"\"certainly\"", b"", b"undefined", b"1,", b"\"1.5\"")
    }  # fmt: skip
    out |= {
        "other case": json.dumps({field.upper(): value}).encode(),
        "nested": json.dumps({"answer": document}).encode(),
        "listed": json.dumps([document]).encode(),
        "text": json.dumps(text).encode(),
        "twice": data + data,
        "twice the key": b"{" + key + b": 1, " + key + b": 1}",
        "fenced": b"```json\n" + data + b"```",
        "prose": b"The answer is " + data,
        "mark": b"\xef\xbb\xbf" + data,
        "utf-16": text.encode("utf-16"),
        "nul": data + b"\x00",
        "deep": b"[" * 100_000,
        "blank": b"\n",
        "nothing": b"",
        "huge": data + b" " * (1 << 20),
    }
    return out


def csv_malformations(text: str) -> dict[str, bytes]:
    """What can go wrong with a prediction file."""
    header, *rows = text.splitlines()
    rest = ",".join(rows[0].split(",")[1:])

    def cell(value: str) -> bytes:
        first = value + ("," + rest if rest else "")
        return "\n".join([header, first, *rows[1:]]).encode()

    out = {
        f"cell is {value!r}": cell(value)
        for value in ("nan", "inf", "-inf", "1e999", "1_0", "0x1", '"1,5"', "1.2.3", "--1", "1e",
                      "e1", "true", "null", "NA", '""', " ", "1 2", "$1", "1%", "１", "٣", "½",
                      "\x00", "1\x00", "=1", '"1', "1e12345", "9" * 200_000, "∞")
    }  # fmt: skip
    out |= {f"{k} rows": "\n".join([header, *(rows * 3)[:k]]).encode() for k in (0, 1, 3, 5, 12)}
    out |= {
        "no header": "\n".join(rows).encode(),
        "upper header": "\n".join([header.upper(), *rows]).encode(),
        "header twice": "\n".join([f"{header},{header}", *rows]).encode(),
        "semicolons": text.replace(",", ";").replace("prediction", "prediction;x").encode(),
        "tabs": text.replace(",", "\t").replace("prediction", "prediction\tx").encode(),
        "utf-16": text.encode("utf-16"),
        "latin-1": b"\xe9" + text.encode(),
        "json": json.dumps({"prediction": [1]}).encode(),
        "blank": b"\n\n",
        "nothing": b"",
        "mark": b"\xef\xbb\xbf",
        "huge": text.encode() + b" " * (16 << 20),
    }
    return out


def malformations(text: str, suffix: str) -> dict[str, bytes]:
    """What went wrong, and the bytes, of the right answer ``text`` to a task of that suffix."""
    return json_malformations(text) if suffix == ".json" else csv_malformations(text)
