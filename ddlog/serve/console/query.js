// Queries in the language and in SQL, with completion and history.
import {ask, schema} from "./api.js";
import {element, failure, field} from "./page.js";
import {PAGE, pager, rowTable} from "./rows.js";

const KEPT = "ddlog-queries";
const history = () => JSON.parse(localStorage.getItem(KEPT) ?? "[]");

export function query(main) {
  const area = element("textarea", {rows: "4", spellcheck: "false", placeholder: 'Reach("a", x)', "aria-describedby": "keys"});
  const offered = element("div", {class: "bar", "aria-live": "polite"});
  const place = element("div");
  const old = element("select", {onchange: () => { if (old.value) area.value = old.value; area.focus(); }});
  const fill = () => old.replaceChildren(element("option", {value: ""}, "…"),
    ...history().map((each) => element("option", {value: each}, each.slice(0, 80))));
  const offer = () => {
    const word = /[\w:]*$/.exec(area.value.slice(0, area.selectionStart))[0];
    const names = word ? schema.relations.filter((each) => each.name.toLowerCase().startsWith(word.toLowerCase())) : [];
    offered.replaceChildren(...names.slice(0, 8).map((each) => element("button", {onclick: () => complete(word, each)}, each.name)));
    return [word, names];
  };
  const complete = (word, each) => {
    const columns = each.columns.map((column) => column.name.replace(/\W/g, "_")).join(", ");
    area.setRangeText(`${each.name}(${columns})`, area.selectionStart - word.length, area.selectionStart, "end");
    offered.replaceChildren();
    area.focus();
  };
  area.addEventListener("input", offer);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(0); }
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      const [word, names] = offer();
      if (names.length === 1) complete(word, names[0]);
    }
  });
  async function run(offset) {
    const given = area.value.trim();
    if (!given) return;
    localStorage.setItem(KEPT, JSON.stringify([given, ...history().filter((each) => each !== given)].slice(0, 50)));
    fill();
    const kind = /^(select|with|describe|show|explain)\b/i.test(given) ? "sql" : "query";
    try {
      const found = await ask("/query", {[kind]: given, limit: PAGE, offset});
      const warned = found.warnings.map((each) => element("pre", {tabindex: "0"}, each.text));
      const isTrue = found.columns.length === 0;
      place.replaceChildren(...warned, ...(isTrue
        ? [element("p", {role: "status"}, found.count ? "true" : "false")]
        : [pager(found, offset, run), rowTable(found, {label: "Answer", order: ""})]));
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  }
  fill();
  main.append(element("h1", {}, "Query"), field("A rule body, or SELECT …", area), offered,
    element("div", {class: "bar"}, element("button", {class: "main", onclick: () => run(0)}, "Run"),
      field("Before", old), element("span", {class: "soft", id: "keys"}, "Ctrl+Enter runs, Ctrl+Space completes")), place);
  return () => {};
}
