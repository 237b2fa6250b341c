"""Regular expressions."""

from __future__ import annotations

MODULE = "regex"

PRELUDE = """
import regex
function all(pattern: string, text: string): Vec<string> { regex_all_matches(regex(pattern), text) }
function wrong(pattern: string): string {
    match (try_regex(pattern)) {
        Ok{_} -> "right",
        Err{var e} -> replace(e, "in the regular expression `${pattern}`: ", "")
    }
}
"""

CALLS = {
    'regex("a+")': 'regex::Regex{"a+"}',
    '(regex("("), regex_match(regex("("), "a("))': '(regex::Regex{"a^"}, false)',
    '(regex_match(regex("b+"), "abbc"), regex_match(regex("^b"), "abbc"), regex_match(regex("^$"), ""))':
        "(true, false, true)",
    '(regex_first_match(regex("b+"), "abbcb"), regex_first_match(regex("x"), "abbcb"))':
        '(ddlog_std::Some{"bb"}, ddlog_std::None{})',
    'regex_first_match(regex("a|ab"), "ab")': 'ddlog_std::Some{"a"}',
    'all("a*", "aab")': '["aa", ""]',
    'all("", "é")': '["", ""]',
    'all([|\\d+|], "1٣ 22")': '["1٣", "22"]',
    'all([|(?-u)\\d+|], "1٣ 22")': '["1", "22"]',
    'all([|\\w+|], "héllo wörld_1 ✓")': '["héllo", "wörld_1"]',
    'all([|\\W+|], "a é-b")': '[" ", "-"]',
    'all([|\\s\\S|], "a\\u{2003}b")': '["\\u{2003}b"]',
    'all([|[^\\W\\d]+|], "ab12é_")': '["ab", "é_"]',
    'all([|[\\s\\S]|], "a ")': '["a", " "]',
    'all([|[\\w--[0-9_]]+|], "ab_12é")': '["ab", "é"]',
    'all("[a-z&&[^aeiou]]+", "hello")': '["h", "ll"]',
    'all("[a-g~~c-k]+", "abcdhijk")': '["ab", "hijk"]',
    'all("[^[a-c]]+", "axdb")': '["xd"]',
    'all("[[a-c][x-z]]+", "axd")': '["ax"]',
    'all("[]a-]+", "]a-b")': '["]a-"]',
    'all([|[[:alpha:]]+[[:^alpha:]]|], "ab1")': '["ab1"]',
    'all([|\\pL\\p{Greek}\\p{greek}\\P{Greek}|], "aαβb")': '["aαβb"]',
    'all([|\\p{Uppercase_Letter}\\p{gc=Lu}\\p{sc!=Latin}|], "ABα")': '["ABα"]',
    'all([|\\p{Cn}+|], "a\\u{378}")': '["\\u{378}"]',
    'all("(?x) a b # both\\n c", "abc a b c")': '["abc"]',
    'all("(?i)STRASSE", "Strasse")': '["Strasse"]',
    'all("(?i)[^a]", "aAb")': '["b"]',
    'all("(?i)[a-z--[aeiou]]+", "HELLO")': '["H", "LL"]',
    'all("(?i:a)b", "AbAB")': '["Ab"]',
    'all("(?m)^.", "ab\\ncd")': '["a", "c"]',
    'all(".(?s:.)", "a\\n")': '["a\\n"]',
    'all("(?U)a+", "aa")': '["a", "a"]',
    'all("x{2}{2}|a**", "xxxxxaa")': '["xxxx", "aa"]',
    'all("(?P<n>a)(?<m>b)", "ab")': '["ab"]',
    'all([|\\x41\\u0042\\U00000043\\x{44}\\-\\.|], "ABCD-.")': '["ABCD-."]',
    'all([|\\bone\\b|], "one two")': '["one"]',
    'all("$", "a\\n")': '[""]',
    '(wrong("a|b"), wrong("(a"))': '("right", "a group is not closed")',
    'wrong("a)")': '"a group is closed that is not open"',
    'wrong("[a")': '"a class is not closed"',
    'wrong("*a")': '"there is nothing before `*` to repeat"',
    'wrong("a{")': '"a repetition is `{n}`, `{n,}` or `{n,m}`; a brace itself is `\\\\{`"',
    'wrong("a{2,1}")': '"the bounds of the repetition {2,1} are in the wrong order"',
    'wrong("(?=a)")': '"a group begins with `(`, `(?:`, `(?i:` or `(?P<name>`; there is no look-around"',
    'wrong("(?i-i)a")': '"the flags ii have one twice"',
    'wrong("(?P<n>a)(?P<n>b)")': '"there are two groups with the name n"',
    "wrong([|(a)\\1|])": '"there are no references to groups"',
    "wrong([|\\Qa|])": '"there is no escape `\\\\Q`"',
    "wrong([|[\\b]|])": '"there is no escape `\\\\b` in a class"',
    "wrong([|\\|])": '"there is nothing after the last backslash"',
    "wrong([|\\x{D800}|])":
        '"a character by its number is `\\\\x7F`, `\\\\u007F`, `\\\\U0000007F` or `\\\\x{7F}`"',
    "wrong([|\\p{Nothing}|])": '"no category or script of Unicode is known as Nothing"',
    "wrong([|\\p|])": '"a property is `\\\\pL` or `\\\\p{Letter}`"',
    'wrong("[z-a]")': '"a range in a class goes from one character to a later one"',
    "wrong([|[a-\\d]|])": '"a range in a class goes from one character to a later one"',
    'all([|\\w{1000}|], "short")': "[]",
    'wrong("a{1001}")': '"invalid repetition size: {1001}"',
    'wrong(string_join(vec_with_length(101, "("), ""))': '"groups and classes are nested more than 100 deep"',
    'try_regex("(a")': 'ddlog_std::Err{"in the regular expression `(a`: a group is not closed"}',
    'regex_set(["a", "b+"])': 'regex::RegexSet{["a", "b+"]}',
    'regex_set(["a", "("])': "regex::RegexSet{[]}",
    'try_regex_set(["a"])': 'ddlog_std::Ok{regex::RegexSet{["a"]}}',
    'is_err(try_regex_set(["a", "("]))': "true",
    '(regex_set_match(regex_set(["x", "b"]), "abc"), regex_set_match(regex_set(["x"]), "abc"))':
        "(true, false)",
    'regex_set_match(regex_set(vec_empty()), "abc")': "false",
    'regex_match(Regex{"("}, "a")': "fault: in the regular expression `(`: a group is not closed",
}  # fmt: skip
