"""JSON, read and written by the types of the language."""

from __future__ import annotations

MODULE = "json"

PRELUDE = """
import json
typedef Color = Red | Green{shade: u8} | Blue
typedef Point = Point{x: s32, y: s32}
typedef Tree = Tree{name: string, label: Option<istring>, kids: Vec<Tree>}
typedef Mixed = Mixed{f: float, m: Map<u16, Color>, s: Set<bool>, t: (u8, ()), r: Ref<Point>}
typedef Deep = Deep{inner: Vec<Deep>}
typedef Nested = Nested{text: JsonWrapper<Point>}

function point(s: string): Result<Point, string> { from_json_string(s) }
function tree(s: string): Result<Tree, string> { from_json_string(s) }
function mixed(s: string): Result<Mixed, string> { from_json_string(s) }
function deep(s: string): Result<Deep, string> { from_json_string(s) }
function nested(s: string): Result<Nested, string> { from_json_string(s) }
function color(s: string): Result<Color, string> { from_json_string(s) }
function bytes(s: string): Result<Vec<u8>, string> { from_json_string(s) }
function pair(s: string): Result<(u8, string), string> { from_json_string(s) }
function counts(s: string): Result<Map<s8, u8>, string> { from_json_string(s) }
function option(s: string): Result<Option<u8>, string> { from_json_string(s) }
function double_(s: string): Result<double, string> { from_json_string(s) }
function big(s: string): Result<bigint, string> { from_json_string(s) }
function text(s: string): Result<string, string> { from_json_string(s) }

function parsed(s: string): Result<JsonValue, string> { from_json_string(s) }
function v(s: string): JsonValue { parsed(s).unwrap_or_default() }
function written(x: 'T): string { to_json_string(x).unwrap_or("cannot") }
function doc(): JsonValue { v([|{"a": [1, {"b": 7}], "s": "x", "t": true}|]) }
function key(s: string): JsonPtrItem { JKeyPtr{intern(s)} }
function at(n: usize): JsonPtrItem { JIdxPtr{n} }
function put(place: JsonPtr, x: string): (Result<(), string>, string) {
    var changed = doc();
    var done = set_by_ptr(changed, place, v(x));
    (done, written(changed))
}
function repeated(s: string, n: u32): string { vec_with_length(n as usize, s).join("") }
function nesting(n: u32): string {
    repeated([|{"inner": [|], n) ++ repeated("]}", n)
}
function brackets(n: u32): string { repeated("[", n) ++ repeated("]", n) }
"""

READ = {
    'point([|{"x": 1, "y": -2, "z": null}|])': "ddlog_std::Ok{Point{1,-2}}",
    'point("[1, 2]")': "ddlog_std::Ok{Point{1,2}}",
    'point([|{"x": 1}|])': 'ddlog_std::Err{"missing field `y` at line 1 column 8"}',
    'tree([|{"name": "é", "kids": [{"name": "k"}]}|])':
        'ddlog_std::Err{"missing field `kids` at line 1 column 37"}',
    'tree([|{"name": "a", "kids": [{"name": "b", "label": "l", "kids": []}]}|])':
        'ddlog_std::Ok{Tree{"a",ddlog_std::None{},[Tree{"b",ddlog_std::Some{"l"},[]}]}}',
    'mixed([|{"f": 0.1, "m": {"300": {"Green": {"shade": 3}}, "7": "Red"}, '
    '"s": [true], "t": [1, null], "r": [1, 2]}|])':
        "ddlog_std::Ok{Mixed{0.1,{7: Red{}, 300: Green{3}},[true],(1, ()),Point{1,2}}}",
    'point("3")': 'ddlog_std::Err{"invalid type: integer `3`, expected struct Point at line 1 column 1"}',
    'point("[1]")':
        'ddlog_std::Err{"invalid length 1, expected struct Point with 2 elements at line 1 column 3"}',
    'point([|{"x": 1, "y": "b"}|])':
        'ddlog_std::Err{"invalid type: string \\"b\\", expected signed<32> at line 1 column 17"}',
    'point("{\\"x\\": 1,\\n \\"y\\": 3000000000}")':
        'ddlog_std::Err{"invalid value: integer `3000000000`, expected signed<32> at line 2 column 16"}',
    'point([|{"x": 1, "x": 1, "y": 1}|])': 'ddlog_std::Err{"duplicate field `x` at line 1 column 24"}',
    'point([|{"z": 1, "z": 1, "x": 1, "y": 1}|])': "ddlog_std::Ok{Point{1,1}}",
    'color([|"Red"|])': "ddlog_std::Ok{Red{}}",
    'color([|{"Blue": null}|])': "ddlog_std::Ok{Blue{}}",
    'color([|{"Green": {"shade": 255}}|])': "ddlog_std::Ok{Green{255}}",
    'color([|"Rod"|])':
        'ddlog_std::Err{"unknown variant `Rod`, expected one of `Red`, `Green`, `Blue` at line 1 column 5"}',
    'color([|"Green"|])':
        'ddlog_std::Err{"invalid type: unit variant, expected struct variant Green at line 1 column 7"}',
    'color("1")': 'ddlog_std::Err{"invalid type: integer `1`, expected enum Color at line 1 column 1"}',
    'color([|{"Red": 1}|])':
        'ddlog_std::Err{"invalid type: integer `1`, expected unit variant Red at line 1 column 10"}',
    'bytes("[0, 255]")': "ddlog_std::Ok{[0, 255]}",
    'bytes("[256]")': 'ddlog_std::Err{"invalid value: integer `256`, expected bit<8> at line 1 column 4"}',
    'bytes("[1.0]")':
        'ddlog_std::Err{"invalid type: floating point `1.0`, expected bit<8> at line 1 column 4"}',
    'bytes("[true]")':
        'ddlog_std::Err{"invalid type: boolean `true`, expected bit<8> at line 1 column 5"}',
    'bytes("{}")': 'ddlog_std::Err{"invalid type: map, expected a sequence at line 1 column 2"}',
    'pair([|[1, "b"]|])': 'ddlog_std::Ok{(1, "b")}',
    'is_err(pair("[1]"))': "true",
    'counts([|{"-1": 1, "5": 2}|])': "ddlog_std::Ok{{-1: 1, 5: 2}}",
    'counts([|{"a": 1}|])':
        'ddlog_std::Err{"invalid type: string \\"a\\", expected signed<8> at line 1 column 8"}',
    'counts([|{"": 1}|]).is_err() and counts([|{"300": 1}|]).is_err()': "true",
    'counts([|{"01": 1}|]).is_err()': "true",
    '(option("null"), option("3"))': "(ddlog_std::Ok{ddlog_std::None{}}, ddlog_std::Ok{ddlog_std::Some{3}})",
    '(double_("3"), double_("-1.5e3"))': "(ddlog_std::Ok{3}, ddlog_std::Ok{-1500})",
    'double_("1e999")': 'ddlog_std::Err{"number out of range"}',
    f'double_("{"9" * 400}")': 'ddlog_std::Err{"number out of range at line 1 column 400"}',
    f'parsed("[{"9" * 400}]")': 'ddlog_std::Err{"number out of range at line 1 column 402"}',
    'double_("NaN")': 'ddlog_std::Err{"NaN is no JSON"}',
    'big("-123456789012345678901234567890123456789012")':
        "ddlog_std::Ok{-123456789012345678901234567890123456789012}",
    'text([|"\\u00e9\\n\\\\"|])': 'ddlog_std::Ok{"é\\n\\\\"}',
    'text([|"\\ud83d\\ude00"|])': 'ddlog_std::Ok{"😀"}',
    'text([|"\\ud83d"|])': 'ddlog_std::Err{"half of a surrogate pair in a string"}',
    'text("")': 'ddlog_std::Err{"expecting value at line 1 column 0"}',
    'bytes("[1 2]")': "ddlog_std::Err{\"expecting ',' delimiter at line 1 column 4\"}",
    'bytes("[1] x")': 'ddlog_std::Err{"extra data at line 1 column 5"}',
    'nested([|{"text": "{\\"x\\": 1, \\"y\\": 2}"}|])':
        "ddlog_std::Ok{Nested{json::JsonWrapper{Point{1,2}}}}",
    'nested([|{"text": "{\\"x\\": 1}"}|])': 'ddlog_std::Err{"missing field `y` at line 1 column 8"}',
    'nested([|{"text": {}}|])': 'ddlog_std::Err{"invalid type: map, expected a string at line 1 column 11"}',
    'is_ok(deep("{\\"inner\\": []}"))': "true",
    'deep(nesting(64)).is_ok() and deep(nesting(65)).is_err() and deep(nesting(5000)).is_err()': "true",
    'parsed(brackets(128)).is_ok() and parsed(brackets(129)).is_err()': "true",
}  # fmt: skip

WRITTEN = {
    "written(Point{1, -2})": r'"{\"x\":1,\"y\":-2}"',
    "written([Red, Green{3}])": r'"[\"Red\",{\"Green\":{\"shade\":3}}]"',
    'written(Tree{"a", Some{intern("l")}, [Tree{"b", None, vec_empty()}]})':
        r'"{\"name\":\"a\",\"label\":\"l\",\"kids\":[{\"name\":\"b\",\"label\":null,\"kids\":[]}]}"',
    "written(Mixed{0.1, [7 -> Red], set_singleton(true), (1, ()), ref_new(Point{1, 2})})":
        r'"{\"f\":0.1,\"m\":{\"7\":\"Red\"},\"s\":[true],\"t\":[1,null],\"r\":{\"x\":1,\"y\":2}}"',
    "written(Nested{JsonWrapper{Point{1, 2}}})": r'"{\"text\":\"{\\\"x\\\":1,\\\"y\\\":2}\"}"',
    r'written("é\"\\\n\t/")': r'"\"é\\\"\\\\\\n\\t/\""',
    "written([1e16, 1e15, 0.00001, 0.000001, 1.5e300, -0.5, 100.0])":
        '"[1e16,1000000000000000.0,0.00001,1e-6,1.5e300,-0.5,100.0]"',
    "written([1e13: float, 1e12, 0.0000001, 0.1])": '"[1e13,1000000000000.0,1e-7,0.1]"',
    "written([0.0 / 0.0, 1.0 / 0.0])": '"[null,null]"',
    f"written(({1 << 200}: bigint, Some{{3: u8}}, None: Option<u8>))": f'"[{1 << 200},3,null]"',
    "written([JsonNumber{JsonFloat{1.0 / 0.0}}, JsonNumber{JsonFloat{0.5}}])": '"[null,0.5]"',
    "to_json_value(JsonNumber{JsonFloat{0.0 / 0.0}})": "ddlog_std::Ok{json::JsonNull{}}",
    "written([true -> 1: u8])": r'"{\"true\":1}"',
    "to_json_string([Red -> 1: u8])": 'ddlog_std::Err{"key must be a string"}',
    "to_json_string(to_any(1: u8)).is_err()": "true",
    "to_json_value(Green{3})":
        'ddlog_std::Ok{json::JsonObject{{"Green": '
        'json::JsonObject{{"shade": json::JsonNumber{json::JsonInt{3}}}}}}}',
    "to_json_value([1.5])":
        "ddlog_std::Ok{json::JsonArray{[json::JsonNumber{json::JsonFloat{1.5}}]}}",
    "written(doc())": r'"{\"a\":[1,{\"b\":7}],\"s\":\"x\",\"t\":true}"',
    'parsed("[99999999999999999999, 1e40, null]")':
        "ddlog_std::Ok{json::JsonArray{[json::JsonNumber{json::JsonInt{99999999999999999999}}, "
        "json::JsonNumber{json::JsonFloat{10000000000000000000000000000000000000000}}, json::JsonNull{}]}}",
    'from_json_value(v("[1, 2]")): Result<Vec<u8>, string>': "ddlog_std::Ok{[1, 2]}",
    'from_json_value(v("[1, 256]")): Result<Vec<u8>, string>':
        'ddlog_std::Err{"invalid value: integer `256`, expected bit<8>"}',
    'from_json_value(v([|{"x": 1}|])): Result<Point, string>': 'ddlog_std::Err{"missing field `y`"}',
}  # fmt: skip

PARTS = {
    '(as_bool(v("true")), jval_as_bool(v("1")), jval_as_bool_or(v("1"), true))':
        "(ddlog_std::Some{true}, ddlog_std::None{}, true)",
    '(as_number(v("3")), as_number(v("null")))':
        "(ddlog_std::Some{json::JsonInt{3}}, ddlog_std::None{})",
    'jval_as_number_or(v("[]"), JsonFloat{0.5})': "json::JsonFloat{0.5}",
    '(as_string(v([|"a"|])), as_string(v("3")))': '(ddlog_std::Some{"a"}, ddlog_std::None{})',
    'jval_as_string_or(v("[]"), intern("d"))': '"d"',
    '(as_array(v("[null]")), as_array(v("{}")))':
        "(ddlog_std::Some{[json::JsonNull{}]}, ddlog_std::None{})",
    'jval_as_array_or(v("3"), vec_empty())': "[]",
    '(as_object(v([|{"a": null}|])), as_object(v("[]")))':
        '(ddlog_std::Some{{"a": json::JsonNull{}}}, ddlog_std::None{})',
    'jval_as_object_or(v("3"), map_empty())': "{}",
    'get(doc(), intern("s"))': 'ddlog_std::Some{json::JsonString{"x"}}',
    'doc().get(intern("z"))': "ddlog_std::None{}",
    'v("[]").get(intern("z"))': "ddlog_std::None{}",
    'jval_get_or(doc(), intern("z"), JsonNull)': "json::JsonNull{}",
    'get_by_ptr(doc(), [key("a"), at(1), key("b")])':
        "ddlog_std::Some{json::JsonNumber{json::JsonInt{7}}}",
    'get_by_ptr(doc(), vec_empty()) == Some{doc()}': "true",
    'get_by_ptr(doc(), [key("a"), at(2)])': "ddlog_std::None{}",
    'get_by_ptr(doc(), [at(0)])': "ddlog_std::None{}",
    'put([key("a"), at(1), key("c")], "[]")':
        r'(ddlog_std::Ok{()}, "{\"a\":[1,{\"b\":7,\"c\":[]}],\"s\":\"x\",\"t\":true}")',
    'put([key("a"), at(0)], "{}")':
        r'(ddlog_std::Ok{()}, "{\"a\":[{},{\"b\":7}],\"s\":\"x\",\"t\":true}")',
    'put(vec_empty(), "4")': '(ddlog_std::Ok{()}, "4")',
    'put([key("a"), at(2)], "4").0': 'ddlog_std::Err{"there is no index 2 in an array of 2"}',
    'put([key("z"), key("c")], "4").0': "ddlog_std::Err{\"there is no key 'z'\"}",
    'put([key("a"), key("c")], "4").0': "ddlog_std::Err{\"there is no key 'c' in what is no object\"}",
    'put([at(0)], "4") == (Err{"there is no index 0 in what is no array"}, written(doc()))': "true",
}  # fmt: skip

CALLS = READ | WRITTEN | PARTS
