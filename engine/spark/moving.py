"""Changes on their way between the driver and the cluster."""

from __future__ import annotations

from dataclasses import dataclass

from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.interner import Values
from ..schema import Schema
from .change import Change, of_table
from .exchange import from_arrow, to_arrow
from .sqltext import UnionAll
from .tables import Table, Tables


@dataclass(slots=True)
class Moving:
    """A change of one relation: the sum of a part on the driver and a part on the cluster."""

    here: Batch | None = None
    there: Change | None = None
    brought: Batch | None = None  # the whole of it on the driver, when it was asked for
    sent: Change | None = None  # and on the cluster


class Crossing:
    """Brings rows from one side to the other. `values` are those of the driver's runtime."""

    def __init__(self, values: Values, tables: Tables) -> None:
        self.values, self.tables = values, tables

    def batch(self, schema: Schema, table: Table) -> Batch:
        """A table on the driver."""
        local = self.tables.gathered(table, schema).local
        assert local is not None
        return from_arrow(self.values, self.tables.codec, schema, local)

    def table(self, schema: Schema, batch: Batch) -> Table:
        """A batch as a table."""
        return self.tables.local(to_arrow(self.values, self.tables.codec, schema, batch))

    def rows(self, moving: Moving | None) -> int:
        """The number of rows of a change; counting those on the cluster may be a job."""
        if moving is None:
            return 0
        return (moving.here.length if moving.here else 0) + (moving.there.table.rows if moving.there else 0)

    def here(self, schema: Schema, moving: Moving | None) -> Batch | None:
        """A change on the driver; None: no rows."""
        if moving is None:
            return None
        if moving.there is None:
            return moving.here
        if moving.brought is None:
            parts = [] if moving.here is None else [moving.here]
            table = moving.there.table
            if table.rows:
                parts.append(self.batch(schema, table))
            moving.brought = concat(parts, len(schema))
        return moving.brought if moving.brought.length else None

    def there(self, schema: Schema, moving: Moving | None) -> Change | None:
        """A change on the cluster; None: no rows."""
        if moving is None:
            return None
        if moving.here is None or not moving.here.length:
            return moving.there
        if moving.sent is None:
            sent = of_table(self.tables, schema, self.table(schema, moving.here))
            if moving.there is not None:
                both = UnionAll([sent.query, moving.there.query])
                sent = Change(self.tables, schema, both, sent.small and moving.there.small)
            moving.sent = sent
        return moving.sent
