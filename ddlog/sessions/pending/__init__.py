"""The pending changes of input relations in a transaction, kept legal as they come: of a set, a bag, a keyed
relation and a stream. What a relation holds (`Present`) is looked up in process, and queried on Spark."""

from .keyedchanges import KeyedChanges as KeyedChanges
from .keyedchanges import PresentByKey as PresentByKey
from .keys import RelationKey as RelationKey
from .keys import key_places as key_places
from .keys import primary_key as primary_key
from .presentrows import Present as Present
from .presentrows import SignedBatch as SignedBatch
from .runs import BagChanges as BagChanges
from .runs import PendingChanges as PendingChanges
from .runs import SetChanges as SetChanges
from .runs import StreamChanges as StreamChanges
from .storedrows import StoredByKey as StoredByKey
from .storedrows import StoredRows as StoredRows
from .storedrows import stored_changes as stored_changes
