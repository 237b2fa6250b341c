"""Errors about Spark: its installation, its sessions and jobs, and the facts that it reads."""

from __future__ import annotations

from .diagnostics import Diagnostic

_WITHOUT = "the in-process engine (--engine in-process) needs no Spark"


class NoPySpark(Diagnostic):
    """A Python package of Spark that is missing or too old."""

    title = "the Spark engine needs {package}: {problem}"
    suggestion = "pip install 'ddlog[spark]'; " + _WITHOUT
    package: str
    problem: str = "it is not installed"


class NoJava(Diagnostic):
    """A machine without Java, or with an old one."""

    title = "the Spark engine needs Java {needed} or later: {problem}"
    suggestion = (
        "install a JDK or JRE (apt install openjdk-{needed}-jre-headless, brew install openjdk@{needed}) "
        "and set JAVA_HOME to it or put its `java` in PATH; " + _WITHOUT
    )
    needed: int
    problem: str


class NoExternTypes(Diagnostic):
    """An extern type of a program that runs on Spark."""

    title = "on Spark there are no extern types: {type}"
    suggestion = "declare a typedef, or run it in-process (--engine in-process)"
    type: str


class CannotStart(Diagnostic):
    """A driver of Spark that did not start."""

    title = "Spark cannot be started: {reason}"
    suggestion = _WITHOUT
    reason: str


class CannotConnect(Diagnostic):
    """An address at which no server answers."""

    title = "no Spark answers at {address}: {reason}"
    suggestion = "start it or give another --master or --remote; " + _WITHOUT
    address: str
    reason: str


class SparkFailed(Diagnostic):
    """A failure of Spark: of a job, of an analysis, of the connection."""

    title = "Spark: {reason}"
    suggestion = "the session is at its last commit"
    reason: str


class SparkEnded(Diagnostic):
    """A Spark application that is over."""

    title = "Spark has ended: {reason}"
    suggestion = "the session has ended with it; open a new one from its inputs or its folder"
    reason: str


class WorkersEnd(Diagnostic):
    """Workers that end again whenever they are started again."""

    title = "workers of the session ended, and did so again after they were started again"
    suggestion = (
        "the session is at its last commit; if executors were killed for their memory, give them more of "
        "spark.executor.memoryOverhead"
    )


class StateInDriver(Diagnostic):
    """A warning of a state that outgrows the driver and stays there."""

    severity = "warning"
    title = "the inputs have {rows} rows, more than `driver_rows`, and the state stays in this process: {why}"
    suggestion = (
        "it needs about 100 bytes of memory for each row of all relations; `driver_rows` may be higher"
    )
    rows: str
    why: str


class TooLittleOverhead(Diagnostic):
    """A warning of executors that may be ended for the memory of their workers."""

    severity = "warning"
    title = (
        "the workers of an executor need about {needed} MiB for the inputs, and "
        "spark.executor.memoryOverhead is {granted} MiB"
    )
    suggestion = "set it to {needed}m or more, for the other relations need memory, too"
    needed: str
    granted: str


class ExecutorsRemoved(Diagnostic):
    """A warning of executors that come and go, while they run workers."""

    severity = "warning"
    title = "spark.dynamicAllocation.enabled is set: an executor that is removed takes workers along"
    suggestion = "turn it off: whenever workers end, all of them are started again and evaluate all rows"


class NoSuchTable(Diagnostic):
    """The name of a table that is not in the catalog."""

    title = "there is no table {table}"
    suggestion = "for a file or folder write a slash or an ending, such as ./{table}"
    table: str


class BadRecord(Diagnostic):
    """A faulty cell of a record that Spark read. Spark does not know the number of the line."""

    title = "{path}{where:: column `%`}: {problem}{record:, in the record: %}"
    path: str
    problem: str
    where: str = ""
    record: str = ""

    @property
    def hint(self) -> str:
        """The reason why the message has no line."""
        lines = "; Spark reads files in pieces and cannot tell the line" if "/" in self.path else ""
        return f"nothing was applied{lines}"


class NeedsSpark(Diagnostic):
    """An operation of sessions on Spark, in another session."""

    title = "{what} needs a session on Spark"
    suggestion = 'open it with program.session(spark=spark) or program.session(engine="spark")'
    what: str


class NotForSpark(Diagnostic):
    """A file in a form that Spark does not read."""

    title = "{path}: Spark does not read {form}"
    suggestion = "convert it to Parquet, or use --engine in-process"
    path: str
    form: str


class OnlySparkWrites(Diagnostic):
    """An output that the in-process engine cannot reach."""

    title = "{place}: the in-process engine writes only local files"
    suggestion = "use --engine spark, or a local directory"
    place: str


class OnlySparkReads(Diagnostic):
    """An input that the in-process engine cannot reach."""

    title = "{place}: the in-process engine reads only local files"
    suggestion = "use --engine spark, copy the files here, or name one of a relation and install fsspec"
    place: str


class OnlyReadHere(Diagnostic):
    """A place that Spark cannot read."""

    title = "{place}: Spark reads neither the web, nor tables with options of a place"
    suggestion = "use --engine in-process, or take the data where Spark reads it"
    place: str


class SkipsNoRows(Diagnostic):
    """Wrong rows that should be skipped of facts that only executors read."""

    title = "on Spark wrong rows are skipped in files of this machine, of at most 64 MiB for a relation"
    suggestion = "use --engine in-process, or --on-error stop"


class NoFrameOfLookup(Diagnostic):
    """A Spark DataFrame of rows that an index found, on Spark."""

    title = "to_spark cannot be used on the rows that an index finds: they are on the driver"
    suggestion = "filter the relation's DataFrame: session[relation].to_spark().where(…)"


class SameView(Diagnostic):
    """Two relations whose temp views would be one."""

    title = "Spark cannot tell the views {first} and {second} apart"
    suggestion = "set spark.sql.caseSensitive to true, or name the views yourself"
    first: str
    second: str
