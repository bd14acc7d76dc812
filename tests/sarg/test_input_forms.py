"""Forms of the input: Base64 of either alphabet, with white space, as text or bytes, or the bytes of Kryo."""

import base64

import pytest

import sarg
from tests.sarg.corpus import record, records

TEXT = record("4.0.1", "a <= 5.5")["kryo_base64"]
RAW = base64.b64decode(TEXT)


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        TEXT.encode(),
        RAW,
        bytearray(RAW),
        TEXT.rstrip("="),
        TEXT.replace("+", "-").replace("/", "_"),
        "\n".join(TEXT[i : i + 76] for i in range(0, len(TEXT), 76)),
        "  " + TEXT + "\r\n",
        "\t".join(TEXT),
    ],
    ids=["text", "bytes of text", "raw", "bytearray", "no padding", "URL-safe", "lines", "around", "everywhere"],
)
def test_every_form_of_the_input_reads_the_same(data):
    assert sarg.decode(data) == sarg.decode(TEXT)


def test_url_safe_text_with_both_special_characters_reads_the_same():
    text = next(r["kryo_base64"] for r in records("3.1.3") if "+" in r["kryo_base64"] and "/" in r["kryo_base64"])
    assert sarg.decode(text.replace("+", "-").replace("/", "_")) == sarg.decode(text)


@pytest.mark.parametrize(
    ("data", "offset", "why"),
    [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("AQE*", 3, "0x2a is not Base64"),
        ("(a < 5)", 0, "is not Base64"),
        ("日本", 0, "is not Base64"),
        ("A", 1, "not Base64"),
        (b"\x00\x01\x02", 0, "is not Base64"),
        (b"\x01", 1, "ends too early"),
        (RAW + b"\x00", len(RAW), "1 bytes are left over"),
    ],
    ids=str,
)
def test_a_bad_input_tells_where_and_why(data, offset, why):
    with pytest.raises(sarg.DecodeError) as caught:
        sarg.decode(data)
    assert caught.value.offset == offset
    assert why in caught.value.why


def test_a_truncated_filter_never_decodes():
    for length in range(1, len(RAW)):
        with pytest.raises(sarg.DecodeError):
            sarg.decode(RAW[:length])
