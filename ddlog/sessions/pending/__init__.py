"""The pending changes of the input relations in a transaction, kept legal as they come. A file for each kind
of relation."""

from .keyed import KeyedChanges as KeyedChanges
from .keyed import RowsByKey as RowsByKey
from .keyed import StoredByKey as StoredByKey
from .keyedbatches import KeyedBatches as KeyedBatches
from .keyedbatches import key_places as key_places
from .multisets import MultisetChanges as MultisetChanges
from .protocol import PendingChanges as PendingChanges
from .protocol import RunLog as RunLog
from .protocol import SignedBatch as SignedBatch
from .sets import SetChanges as SetChanges
from .streams import StreamChanges as StreamChanges
