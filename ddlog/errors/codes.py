"""The stable code of each kind of error, such as DL0201.

The first two digits number the file that declares the kind, the last two its place in the list of that
file. A new kind is appended to its list, a new file to the table; a kind that is gone leaves `-`. So no
code ever changes its meaning.
"""

from __future__ import annotations

from functools import cache

from .diagnostics import Diagnostic

_KINDS = {
    "syntax": (
        "BadCharacter UnclosedComment UnclosedString HidingString BadEscape BadQuote BadDigits ZeroWidth "
        "GreatWidth LiteralTooWide PatternTooWide BadFloatWidth PositionAfterName MixedArguments "
        "NotAssociative SplitShift QualifiedDeclaration ReservedWord Unexpected MissingPeriod "
        "EqualsInHead CallOfUpper OperatorAfterElse DoubledSign UnclosedBracket"
    ),
    "names": (
        "UnknownVariable UnknownFunction UnknownType UnknownTypeVariable UnknownConstructor "
        "UnknownRelation UnknownField MultipleDefinitions VariableDefined UnusedVariable UnusedRelation "
        "EmptyRelation UnknownTransformer"
    ),
    "modules": (
        "UnknownModule Ambiguous NoSuchModule SeveralModules HalfModule UnreadableModule AbsentCode "
        "MissingCode AbsentClass MissingClass UnfitClass ExternArity ExternOverloaded"
    ),
    "types": (
        "TypeMismatch LiteralMismatch LiteralTooBig WrongOperand BadCast SliceTooHigh SliceReversed "
        "NoField GuardedField NotIterable NoReference NoToString NotAssignable MissingField "
        "WrongFieldCount RepeatedField OutsideLoop ExpressionTooDeep"
    ),
    "typedefs": (
        "RepeatedParameter WrongTypeArguments RecursiveAlias RecursiveType UnusedTypeVariables "
        "TypeTooDeep FieldsTooDeep TypeTooLarge FieldTypes -"
    ),
    "patterns": "NotAnExpression NotAPattern NonExhaustive Unsatisfiable Refutable AssignedConstructor",
    "functions": (
        "QuestionOutsideFunction BadQuestion WrongArgumentCount NoSuchOverload AmbiguousCall "
        "NoSuchFunctionValue AmbiguousName NotAFunction ReturnOutsideFunction InfiniteInstances "
        "SameSignature"
    ),
    "attributes": (
        "UnknownAttribute SerdeSetting NoRenamingRule SerdeFunction FlattenedType AttributeValue "
        "EmptyOriginal DemandOfNoOutput ZeroInAttribute RepeatedAttribute ArrayOfNoMap KeyFunction "
        "SameJsonName"
    ),
    "rules": (
        "InputHead NegatedBinding UnboundVariable UnboundHead NotVisibleAfterGroup GroupByKeys "
        "GroupByKeyTwice GroupByArguments GroupByTwice GroupByOutsideRule FlatMapPlace AggregatePlace "
        "- KeyNotInput IndexUnbound IndexBindsMore IndexOnStream IndexOnDelayed NegatedBinder "
        "- TransformerPorts TransformerInput TransformerOutput TransformedHead Product"
    ),
    "groups": "EqualValues UnknownWeights",
    "strata": "Unstratifiable TransformerInCycle BagInCycle",
    "recursion": "IterationLimitReached RecursionRepeats",
    "loops": (
        "UnknownEnd SecondEnd LoopRelation ForeignHead UnknownEmpty InitialOutside LoopInCycle BagInLoop "
        "RoundType RoundValue RoundUnequal LoopsTooDeep LoopLimitReached LoopRepeats"
    ),
    "streams": (
        "StreamJoin NegatedStream StreamAntijoin RelationHead StreamHead StreamFact StreamRecursion "
        "StreamKey NotAStream NoDelay HeadInTime"
    ),
    "windows": (
        "WindowNumber WindowTooSmall WindowOfStream ClockColumns ClockType TimeType WindowColumns "
        "WindowOutput"
    ),
    "sql": (
        "SqlSyntax SqlTooDeep NotSupported AmbiguousInSql TwiceInSql WrongTypes WrongSql NoParser "
        "OneStatement NoParameter BadSqlParameter NullInColumn MatchedTwice NoSavepoint NotAView "
        "NoRowToExplain FactStays"
    ),
    "souffle": (
        "CannotTranslate Ungrounded UnnamedValue DeclaredTwice WrongNumber TypeClash UnknownShape "
        "ConstantTooLarge NotATerm NotAValue OtherAggregates NotAHead BadDirective BadMacroUse "
        "UnclosedSouffleComment UnclosedText NothingToOverride BadComponent ProgramOfSouffle Unstratified "
        "BadParameter NoFactFile NotInDatabase TwoRelations NoLimit ProgramOfFlowlog"
    ),
    "ovsdb": (
        "NotJson MemberTwice WrongForm NoMember UnknownMember UnknownAtom BadBounds UnknownTable "
        "NoSuchColumn NotAColumn NotOutput ReadOnlyKey KeyOfReferences ReferenceInKey NameTaken NotAName"
    ),
    "circuits": "BadOperator CycleWithoutDelay FaultInOperator NeverZero BadChange",
    "unsupported": "Unsupported",
    "facts": (
        "BadFact NoSuchDirectory NotADirectory DirectoryForFile NotAPartFile CannotRead CannotWrite "
        "NotAnInputRelation MisnamedFile SeveralFiles NotTabSeparable"
    ),
    "places": "NoPlaceOption BadPlaceOption OptionOfOtherFormat UnknownColumn",
    "changes": (
        "NotAnInput NothingToClear BadValue BadTable BadKey WrongWidth WrongColumns NoRow NoPrimaryKey "
        "KeyExists KeyMissing DifferentValue CannotModify"
    ),
    "commands": "BadCommand UnfinishedCommand UnknownCommand NoTimely NoTransaction TransactionOpen",
    "lookups": (
        "RelationNotKept EffectsNotKept WindowNotKept NotDelayed HiddenName NotAnOutput WrongIndexKey "
        "BadIndexKey TakenByAnswer NoValue UnusedValue WrongValue UnknownTypeOfValue"
    ),
    "unknown": "NoSuchRelation NoSuchIndex UnknownName NotARelation NotAnIndex",
    "why": (
        "DoesNotHold NotARow NoRowMatches RowNotWhole Holds NoAttempt NotChanged NothingChanged "
        "NoStateBefore LoopWithEffects"
    ),
    "options": (
        "CannotBeCombined OptionNeeded BadOptionValue NoProfile EmptyInput OutputIsProgram NoSuchEngine "
        "WorkersAreSettled"
    ),
    "sessions": (
        "InTransaction UncommittedChanges NoFurtherChanges SessionClosed FaultInRule FaultInStatement "
        "FaultInView ConstraintBroken NestedTooDeeply NotInstalled NoTable ProgramStays NothingToDrop "
        "StillUsed RuleOfSeveral TypeWithValues RowsGone NotMigratedHere"
    ),
    "memory": "MemoryLimitReached NoMemoryLeft NoMemoryMeasure",
    "state": (
        "NotAState NoState StateOfOtherVersion - StateInUse StateOfParent StateDamaged CheckpointDamaged "
        "CannotUseState NotKeptOnDisk EarlierNotKept ValueNotKept StateHoldsData StateOfOtherInputs "
        "CannotMigrate CannotFill ReadOnlyState StateLost StateNeedsClassicSpark NotInFolders "
        "NeedsProgram NoHistory EpochExpected NeedsState KeyOfSeveral"
    ),
    "checkpoints": (
        "OtherCheckpoint CheckpointNotLocal - CheckpointOfOtherFacts "
        "CheckpointTooLate StateNotAtOnce CheckpointMismatch"
    ),
    "follow": (
        "NotAStreamingFrame NoColumns NoWatermark NotAClock NameInUse BadName BadInterval OpenTransaction "
        "StreamFailed OutputOfAnotherRun NotOfThisFolder OnlyInsertsAndDeletes"
    ),
    "spark": (
        "NoPySpark NoJava - NoExternTypes CannotStart CannotConnect SparkFailed SparkEnded "
        "WorkersEnd - - NoSuchTable BadRecord NeedsSpark NotForSpark "
        "OnlySparkWrites OnlySparkReads OnlyReadHere SkipsNoRows NoFrameOfLookup SameView "
        "StateInDriver TooLittleOverhead ExecutorsRemoved"
    ),
    "shell": "FileIsThere NoEditor NoRule NothingLoaded",
    "formatting": "WouldChange NotFormatted",
    "tests": "NoTests NotOneProgram AlreadyThere NotAProjectName",
    "editor": "CannotRename BreaksProgram NameIsTaken",
    "server": (
        "QuestionTooLong ServerEnds TooMuchWaits OnlyReading BadRequest UnknownServer NotOverTheWire "
        "ProgramIsAnother CannotListen NeedsTls ChangesLost NewPython RowsWithoutPlace "
        "ChangesNotTold ChangedMeanwhile"
    ),
}
PREFIX = "DL"


def code_of(kind: type[Diagnostic]) -> str:
    """The code of a kind of error or warning. Raises KeyError for one that is not in the table."""
    return _by_kind()[kind.__module__.rpartition(".")[2], kind.__name__]


@cache
def codes() -> dict[str, tuple[str, str]]:
    """The file and the name of each kind, by code."""
    return {
        f"{PREFIX}{number:02}{place:02}": (file, name)
        for number, (file, names) in enumerate(_KINDS.items(), 1)
        for place, name in enumerate(names.split(), 1)
        if name != "-"
    }


@cache
def _by_kind() -> dict[tuple[str, str], str]:
    return {kind: code for code, kind in codes().items()}
