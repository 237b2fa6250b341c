"""The checker: syntax trees to typed core, in one pass over the syntax and one over what it leaves.

`program` checks the modules of a program, declaration by declaration. A rule, a query, or the body of a
function is checked in a `Context` of its own, in two steps.

**First step: infer.** `expr.infer` visits each expression once, and gives a `Typed`: a type, which may hold
unknowns (`?1`), and a closure `build`, which makes the core expression. Two types that must be equal are
unified, in a substitution that the whole body shares. Nothing of core is built yet: the meaning of an
expression may depend on types that only later clauses tell:

    var x = f(y),      which f, if there are several?       a question, asked again whenever more is known
    x.name,            a field of which type?               a question
    var z = 5,         which integer type?                  an unknown that is known to be an integer
    R(x, z)            the columns of R answer all three

A *question* (`Context.ask`, `Context.undecided`) is a function. It is called with False until it returns that
it has decided. The `Typed` of an undecided expression has a fresh unknown as its type. When the question is
decided, the unknown is unified with the type of the decision, and `build` builds the decision.

    infer(f(y)) -> Typed(?1, build)     question: f of string or f of u32?
                     |                          |  y turns out to be u32
                     |                          v
                     +--- unify(?1, bool) <--- f: function(x: u32): bool

**Second step: settle and build.** `Context.solve` asks the open questions until none moves. Then literals
that nothing else decides get default types, one after another, and after each the questions are asked again.
A question that is still open is asked with True: it must decide, or report why it cannot. An error that
follows from another error is not reported: an expression with an error has an unknown type and fits anywhere.
Checks that need final types (`Context.later`: does the literal fit? is the match exhaustive?) run last. If
there was no error, all `build` closures are called, from the outside inwards, and give core whose types are
all known.

A generic function has no core of its own. Each use of it with other types is an *instance*
(`function.Instances`), checked in these two steps with those types in place of its type variables.

After all rules are checked, passes over core look for what is legal and rarely meant: groups that merge equal
values (`equalvalues`), products (`products`), relations that nothing reads (`unused`).
"""
