"""Pending changes of input relations whose rows stay on Spark. A file for each kind of relation."""

from .keyed import SparkKeyedChanges as SparkKeyedChanges
from .multisets import SparkMultisetChanges as SparkMultisetChanges
from .sets import SparkSetChanges as SparkSetChanges
