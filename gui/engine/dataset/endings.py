"""What a file is by its first bytes, and whether it ends as it must.

Decoders are lenient: Pillow takes a PNG without its end, a WebP whose second half is zeros. Both are
what a broken download or a full disk leaves behind.
"""

from __future__ import annotations

import struct

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"8BPS", "PSD"),
    (b"\xff\x0a", "JXL"),
    (b"\0\0\0\x0cJXL ", "JXL"),
    (b"%PDF", "PDF"),
    (b"BM", "BMP"),
)
_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), "AVIF"),
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"mif1", b"msf1"), "HEIC"),
}

_APPLE_DOUBLE = b"\x00\x05\x16\x07"
"""How the ``._name`` files begin that macOS leaves in archives."""

_PNG_END = b"IEND\xaeB`\x82"
_JPEG_END = b"\xff\xd9"
_TAIL_BYTES = 64
"""No compressed picture ends with so many zeros."""

_PNG_SIGNATURE_BYTES = 8


def format_of(data: bytes) -> str:
    """Return what a file is by its first bytes, in Pillow's words; empty when they tell nothing."""
    for start, name in _STARTS:
        if data.startswith(start):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "")
    if data.startswith(_APPLE_DOUBLE):
        return "AppleDouble"
    return "HTML" if data[:64].lstrip().lower().startswith((b"<!doctype", b"<html")) else ""


def is_extended_webp(data: bytes) -> bool:
    """Return whether a WebP holds more than pixels: transparency, frames, profile, EXIF."""
    return data[:4] == b"RIFF" and data[12:16] == b"VP8X"


def is_whole(data: bytes, kind: str) -> bool:
    """Return whether a file ends as its format must.

    Args:
        data: All of it.
        kind: Its format, as ``format_of`` names it; of others nothing is said (True).
    """
    if kind == "PNG":
        return _png_is_whole(data)
    if kind == "JPEG":
        # Cameras append previews and zeros: it is enough that the end mark is there.
        return data.rfind(_JPEG_END) >= 0
    if kind == "WEBP":
        return len(data) >= struct.unpack_from("<I", data, 4)[0] + 8 and not _ends_in_zeros(data)
    if kind == "BMP":
        return len(data) >= 6 and len(data) >= struct.unpack_from("<I", data, 2)[0]
    return True


def _ends_in_zeros(data: bytes) -> bool:
    end = struct.unpack_from("<I", data, 4)[0] + 8
    return not any(data[end - _TAIL_BYTES : end])


def _png_is_whole(data: bytes) -> bool:
    """Follow the chunks: the end mark's bytes could also stand somewhere in the pixels."""
    at = _PNG_SIGNATURE_BYTES
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IEND":
            return data[at + 4 : at + 12] == _PNG_END
        at += 12 + length
    return False
