"""The functions that ovsdb.dl declares `extern`. A reference is a Left of a number or a Right of a name."""

from __future__ import annotations

from ..values import Group, Map, Set, Struct, Vec
from .uuid import Uuid, to_hyphenated_lower

_LEFT = 0
_SENTINEL = (1, "")


def uuid2str(id: int) -> str:
    return to_hyphenated_lower(Uuid(id))


def uuid2name(id: int) -> str:
    return "row" + uuid2str(id).replace("-", "_")


def set_map_uuid2str(ids: Set) -> Set:
    return Set(map(uuid2str, ids))


def set_map_uuid2name(ids: Set) -> Set:
    return Set(map(uuid2name, ids))


def set_extract_uuids(ids: Set) -> Set:
    return Set(map(_extracted, ids))


def map_extract_val_uuids(ids: Map) -> Map:
    return Map.ordered((key, _extracted(id)) for key, id in ids)


def _extracted(id: Struct) -> int:
    kind, reference = id
    return reference if kind == _LEFT else 0


def group2vec_remove_sentinel(g: Group) -> Vec:
    return Vec(id for id in g[1] if id != _SENTINEL)


def group2set_remove_sentinel(g: Group) -> Set:
    return Set.ordered(id for id in g[1] if id != _SENTINEL)


def group2map_remove_sentinel(g: Group) -> Map:
    return Map((key, id) for key, id in g[1] if id != _SENTINEL)
