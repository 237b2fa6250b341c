"""The rows of input relations on Spark, as their pending changes ask for them."""

from .keyed import QueriedByKey as QueriedByKey
from .queried import Queried as Queried
