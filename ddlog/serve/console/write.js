// Rows to insert and delete, by a form or from pasted text; a trial shows what would follow.
import {ask, schema} from "./api.js";
import {parsed} from "./json.js";
import {element, failure, field} from "./page.js";
import {changeTables} from "./changes.js";

const isText = (type) => type === "string" || /^sql::Decimal\d*$/.test(type);  // a number would lose digits

// The type of the values of a column that may have none; null: each row has a value.
const optional = (type) => /^ddlog_std::Option<(.*)>$/.exec(type)?.[1] ?? null;

const isPlain = (type) => isText(type) || /^(bit|signed|bigint|bool|float|double|[us]\d)/.test(type);

const hint = (type) => optional(type) ? "empty: null" : isPlain(type) ? "" : "as JSON";

function value(given, type) {
  const inner = optional(type);
  if (inner) return given === "" ? null : value(given, inner);
  if (isText(type)) return given;
  try { return parsed(given); } catch { return given; }
}

// The rows of pasted CSV, or of columns with tabs as spreadsheets have them.
export function pasted(given) {
  const between = given.split("\n")[0].includes("\t") ? "\t" : ",";
  const rows = [[""]];
  let quoted = false;
  for (let at = 0; at < given.length; at++) {
    const sign = given[at], row = rows.at(-1);
    if (quoted && sign === '"' && given[at + 1] === '"') { row[row.length - 1] += '"'; at++; }
    else if (sign === '"' && (quoted || row.at(-1) === "")) quoted = !quoted;
    else if (!quoted && sign === between) row.push("");
    else if (!quoted && sign === "\n") rows.push([""]);
    else if (sign !== "\r" || quoted) row[row.length - 1] += sign;
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}

export function write(main) {
  const inputs = schema.relations.filter((each) => each.role === "input");
  main.append(element("h1", {}, "Write"));
  if (schema.readOnly || !inputs.length) {
    main.append(element("p", {}, schema.readOnly ? "This server is read-only." : "The program has no input relations."));
    return () => {};
  }
  const fields = element("div", {class: "bar"}), place = element("div", {role: "status"});
  const csv = element("textarea", {rows: "5", spellcheck: "false"});
  const chosen = element("select", {onchange: () => form()}, inputs.map((each) => element("option", {}, each.name)));
  const declared = () => inputs.find((each) => each.name === chosen.value);
  function form() {
    fields.replaceChildren(...declared().columns.map((each) => field(`${each.name}: ${each.type}`, element("input", {placeholder: hint(each.type)}))));
  }
  function rows() {
    const {columns, record} = declared();
    const given = csv.value.trim() ? pasted(csv.value) : [[...fields.querySelectorAll("input")].map((each) => each.value)];
    return given.map((row) => {
      const made = row.map((cell, at) => value(cell, columns[at]?.type ?? "string"));
      return record ? made : made[0];
    });
  }
  async function send(word, path) {
    try {
      const found = await ask(path, {[word]: {[chosen.value]: rows()}});
      const done = path === "/trials" ? "This would follow:" : `Committed as epoch ${found.epoch}.`;
      place.replaceChildren(element("p", {}, done), ...changeTables(found.changes, found.epoch));
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  }
  const button = (name, word, path, main) => element("button", {class: main ? "main" : null, onclick: () => send(word, path)}, name);
  form();
  main.append(field("Relation", chosen), element("h2", {}, "A row"), fields,
    element("h2", {}, "Or many rows, pasted as CSV"), field("A row a line, the columns in their order", csv),
    element("p", {class: "bar"},
      button("Insert", "insert", "/transactions?changes=true", true), button("Delete", "delete", "/transactions?changes=true"),
      button("Try to insert", "insert", "/trials"), button("Try to delete", "delete", "/trials")), place);
  return () => {};
}
