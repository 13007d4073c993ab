r"""Reads the performance counters ``\GPU Process Memory(*)`` of Windows through ``pdh.dll``.

Structures and constants are those of ``pdh.h`` and ``d3dkmthk.h``. Every failure, a counter that an old
Windows lacks included, means that nothing is told.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from gui.engine.hardware.process_counters import ProcessUse, uses

_FORMAT_LARGE = 0x00000400
_MORE_DATA = 0x800007D2
_VALID = (0, 1)
"""``PDH_CSTATUS_VALID_DATA``, ``PDH_CSTATUS_NEW_DATA``."""
_ADAPTER_ADDRESS = 6
"""``KMTQAITYPE_ADAPTERADDRESS``."""
_MOST_ADAPTERS = 64

_PATHS = (r"\GPU Process Memory(*)\Dedicated Usage", r"\GPU Process Memory(*)\Shared Usage")


class _Value(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE, its union read as LONGLONG."""

    _fields_ = (("status", ctypes.c_uint32), ("large", ctypes.c_int64))


class _Item(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""

    _fields_ = (("name", ctypes.c_wchar_p), ("value", _Value))


class WindowsCounters:
    """Asks Windows; connects at the first question.

    Args:
        pdh: The library; None loads it.
        gdi: The library that knows the adapters; None loads it.
    """

    def __init__(self, pdh: Any = None, gdi: Any = None) -> None:
        self._pdh = pdh
        self._gdi = gdi
        self._query: ctypes.c_void_p | None = None
        self._counters: list[ctypes.c_void_p] = []
        self._places: Mapping[int, str] = {}
        self._useless = False

    def read(self) -> Sequence[ProcessUse]:
        """Return what all processes hold now; empty where it cannot be told. Never raises."""
        if self._useless:
            return ()
        try:
            if self._query is None:
                self._open()
            _check(self._pdh.PdhCollectQueryData(self._query))
            dedicated, shared = map(self._values, self._counters)
        except (OSError, AttributeError, ValueError, ctypes.ArgumentError):
            self._useless = self._query is None
            return ()
        return tuple(uses(dedicated, shared, self._places))

    def _open(self) -> None:
        """Connect.

        Raises:
            OSError, AttributeError: This Windows has no such library, function or counter.
        """
        pdh = self._pdh = self._pdh or _load("pdh")
        query = ctypes.c_void_p()
        _check(pdh.PdhOpenQueryW(None, ctypes.c_size_t(0), ctypes.byref(query)))
        self._counters = [ctypes.c_void_p() for _ in _PATHS]
        for path, counter in zip(_PATHS, self._counters, strict=True):
            # The English names are understood in every language of Windows.
            words = ctypes.c_wchar_p(path)
            _check(pdh.PdhAddEnglishCounterW(query, words, ctypes.c_size_t(0), ctypes.byref(counter)))
        with contextlib.suppress(OSError, AttributeError):
            self._places = adapter_places(self._gdi or _load("gdi32"))
        self._query = query

    def _values(self, counter: ctypes.c_void_p) -> dict[str, int]:
        """Return the values of all instances of a counter; they may grow in number between two calls."""
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        buffer = ctypes.create_string_buffer(0)
        for _ in range(5):
            status = self._pdh.PdhGetFormattedCounterArrayW(
                counter,
                _FORMAT_LARGE,
                ctypes.byref(size),
                ctypes.byref(count),
                buffer if size.value else None,
            )
            if status & 0xFFFFFFFF != _MORE_DATA:
                break
            buffer = ctypes.create_string_buffer(size.value)
        _check(status)
        items = ctypes.cast(buffer, ctypes.POINTER(_Item))
        found: dict[str, int] = {}
        for item in items[: count.value]:
            if item.value.status in _VALID and item.name:
                found[item.name] = found.get(item.name, 0) + item.value.large
        return found


class _Luid(ctypes.Structure):
    _fields_ = (("low", ctypes.c_uint32), ("high", ctypes.c_int32))


class _Adapter(ctypes.Structure):
    """D3DKMT_ADAPTERINFO."""

    _fields_ = (
        ("handle", ctypes.c_uint32),
        ("luid", _Luid),
        ("sources", ctypes.c_uint32),
        ("moves", ctypes.c_int32),
    )


class _Adapters(ctypes.Structure):
    """D3DKMT_ENUMADAPTERS2."""

    _fields_ = (("count", ctypes.c_uint32), ("adapters", ctypes.POINTER(_Adapter)))


class _Question(ctypes.Structure):
    """D3DKMT_QUERYADAPTERINFO."""

    _fields_ = (
        ("handle", ctypes.c_uint32),
        ("type", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_uint32),
    )


class _Address(ctypes.Structure):
    """D3DKMT_ADAPTERADDRESS."""

    _fields_ = (("bus", ctypes.c_uint32), ("device", ctypes.c_uint32), ("function", ctypes.c_uint32))


def adapter_places(gdi: Any) -> dict[int, str]:
    """Return the LUID of each graphics adapter and its PCI address, ``01:00``.

    Args:
        gdi: ``gdi32.dll``.

    Raises:
        OSError, AttributeError: It does not tell.
    """
    room = (_Adapter * _MOST_ADAPTERS)()
    listing = _Adapters(_MOST_ADAPTERS, room)
    _check(gdi.D3DKMTEnumAdapters2(ctypes.byref(listing)))
    places: dict[int, str] = {}
    for adapter in room[: listing.count]:
        address = _Address()
        question = _Question(
            adapter.handle, _ADAPTER_ADDRESS, ctypes.addressof(address), ctypes.sizeof(address)
        )
        if gdi.D3DKMTQueryAdapterInfo(ctypes.byref(question)) == 0:
            luid = (adapter.luid.high & 0xFFFFFFFF) << 32 | adapter.luid.low
            places[luid] = f"{address.bus:02X}:{address.device:02X}"
        gdi.D3DKMTCloseAdapter(ctypes.byref(ctypes.c_uint32(adapter.handle)))
    return places


def _load(name: str) -> Any:
    """Load a library of Windows.

    Raises:
        AttributeError: This is not Windows.
        OSError: It is not there.
    """
    return ctypes.WinDLL(name)  # type: ignore[attr-defined]


def _check(status: int) -> None:
    if status:
        raise OSError(f"status {status & 0xFFFFFFFF:#x}")
