"""The pending changes of input relations in a transaction, kept legal as they come: of a set, a bag, a keyed
relation and a stream. What a relation holds (`Present`) is looked up."""

from .keyedchanges import KeyedChanges as KeyedChanges
from .keyedchanges import stored_changes as stored_changes
from .keys import RelationKey as RelationKey
from .keys import key_places as key_places
from .keys import primary_key as primary_key
from .presentbykey import PresentByKey as PresentByKey
from .presentrows import Present as Present
from .presentrows import SignedBatch as SignedBatch
from .runs import BagChanges as BagChanges
from .runs import PendingChanges as PendingChanges
from .runs import SetChanges as SetChanges
from .runs import StreamChanges as StreamChanges
