"""Uniform resource locators."""

from __future__ import annotations

MODULE = "url"

PRELUDE = """
import url
function u(s: string): Url { unwrap_or(url_parse(s), Url{""}) }
function full(): Url { u("HTTPS://me:secret@Example.COM:8443/a/./b/../c?q=1#top") }
function joined(s: string): Result<string, string> {
    match (join(u("http://a/b/c/d?q"), s)) { Ok{var joined} -> Ok{to_string(joined)}, Err{var e} -> Err{e} }
}
"""

CALLS = {
    "full()": 'url::Url{"https://me:secret@example.com:8443/a/c?q=1#top"}',
    '"${full()}"': '"https://me:secret@example.com:8443/a/c?q=1#top"',
    'url_to_string(u("http://é.example:80/a b"))': '"http://xn--9ca.example/a%20b"',
    'url_parse("/a/b")': 'ddlog_std::Err{"relative URL without a base: /a/b"}',
    'url_parse("http://")': 'ddlog_std::Err{"invalid URL: http://"}',
    'is_err(url_parse("http://a:99999/"))': "true",
    'joined("../x")': 'ddlog_std::Ok{"http://a/b/x"}',
    'joined("?y")': 'ddlog_std::Ok{"http://a/b/c/d?y"}',
    'joined("#z")': 'ddlog_std::Ok{"http://a/b/c/d?q#z"}',
    'joined("//h/p")': 'ddlog_std::Ok{"http://h/p"}',
    'joined("g:h")': 'ddlog_std::Ok{"g:h"}',
    'joined("http://[")': 'ddlog_std::Err{"cannot join to http://a/b/c/d?q: http://["}',
    'is_err(join(u("mailto:a@b.c"), "x"))': "true",
    '(scheme(full()), scheme(u("mailto:a@b.c")))': '("https", "mailto")',
    '(has_authority(full()), has_authority(u("file:///x")), has_authority(u("mailto:a@b.c")))':
        "(true, true, false)",
    '(cannot_be_a_base(full()), cannot_be_a_base(u("mailto:a@b.c")), cannot_be_a_base(u("x:/.//y")))':
        "(false, true, false)",
    '(username(full()), username(u("http://a/")))': '("me", "")',
    '(password(full()), password(u("http://me@a/")), password(u("http://:pw@a/")))':
        '(ddlog_std::Some{"secret"}, ddlog_std::None{}, ddlog_std::Some{"pw"})',
    '(has_host(full()), has_host(u("file:///x")), has_host(u("mailto:a@b.c")))': "(true, false, false)",
    '(host_str(full()), host_str(u("http://[2001:DB8::0]/")), host_str(u("file:///x")))':
        '(ddlog_std::Some{"example.com"}, ddlog_std::Some{"[2001:db8::]"}, ddlog_std::None{})',
    '(domain(full()), domain(u("http://[::1]/")), domain(u("http://1.2.3.4/")), domain(u("x://1.2.3.4/")))':
        '(ddlog_std::Some{"example.com"}, ddlog_std::None{}, ddlog_std::None{}, ddlog_std::Some{"1.2.3.4"})',
    '(port(full()), port(u("https://a:443/")), port(u("x://a:443/")))':
        "(ddlog_std::Some{8443}, ddlog_std::None{}, ddlog_std::Some{443})",
    "port_or_known_default(full())": "ddlog_std::Some{8443}",
    'port_or_known_default(u("wss://a/"))': "ddlog_std::Some{443}",
    'port_or_known_default(u("x://a/"))': "ddlog_std::None{}",
    '(path(full()), path(u("http://a")), path(u("mailto:a@b.c")), path(u("x:/.//y")))':
        '("/a/c", "/", "a@b.c", "//y")',
    '(query(full()), query(u("http://a/?")), query(u("http://a/#f?g")))':
        '(ddlog_std::Some{"q=1"}, ddlog_std::Some{""}, ddlog_std::None{})',
    '(fragment(full()), fragment(u("http://a/#")), fragment(u("http://a/?x")))':
        '(ddlog_std::Some{"top"}, ddlog_std::Some{""}, ddlog_std::None{})',
    'path(Url{"nothing"})': "fault: not the normal form of a URL: nothing",
}  # fmt: skip
