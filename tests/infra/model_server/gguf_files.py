"""GGUF files of tests: headers as the format's document writes them, without any weights."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

Entry = str | int | float | bool | Sequence[str] | Sequence[int]


def write_text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def write_entry(entry: Entry) -> bytes:
    match entry:
        case bool():
            return struct.pack("<I?", 7, entry)
        case int():
            return struct.pack("<IQ", 10, entry)
        case float():
            return struct.pack("<Id", 12, entry)
        case str():
            return struct.pack("<I", 8) + write_text(entry)
        case [str(), *_]:
            texts = b"".join(write_text(str(text)) for text in entry)
            return struct.pack("<IIQ", 9, 8, len(entry)) + texts
        case _:
            return struct.pack(f"<IIQ{len(entry)}I", 9, 4, len(entry), *entry)


def write_header(entries: Mapping[str, Entry], *, version: int = 3) -> bytes:
    body = b"".join(write_text(key) + write_entry(entry) for key, entry in entries.items())
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(entries)) + body


MODEL: Mapping[str, Entry] = {
    "general.architecture": "qwen2",
    "tokenizer.ggml.tokens": ["a", "bc", "ü"],
    "tokenizer.ggml.token_type": [1, 2, 3],
    "general.name": "Small One",
    "qwen2.block_count": 24,
    "qwen2.context_length": 32_768,
    "qwen2.embedding_length": 896,
    "qwen2.attention.head_count": 14,
    "qwen2.attention.head_count_kv": 2,
    "qwen2.rope.freq_base": 1e6,
    "tokenizer.ggml.add_bos_token": False,
}


def store_model(folder: Path, content: bytes | None = None) -> Path:
    file = folder / "small.gguf"
    file.write_bytes(write_header(MODEL) if content is None else content)
    return file
