"""What input relations hold on Spark, as their pending changes ask for it."""

from .keyed import QueriedByKey as QueriedByKey
from .queried import Queried as Queried
