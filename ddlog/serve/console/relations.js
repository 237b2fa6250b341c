// The relations with their numbers of rows, and the rows of one.
import {ask, onEpoch, save, schema} from "./api.js";
import {element, failure, field, head, number, table} from "./page.js";
import {PAGE, pager, rowTable} from "./rows.js";
import {explain} from "./why.js";

export function relations(main) {
  const counts = new Map();
  const rows = schema.relations.map((each) => {
    const count = element("td", {class: "number"}, number(each.rows));
    counts.set(each.name, count);
    const types = each.columns.map((column) => `${column.name}: ${column.type}`).join(", ");
    return element("tr", {},
      element("td", {}, element("a", {href: `#/relations/${encodeURIComponent(each.name)}`}, each.name)),
      element("td", {}, element("span", {class: "badge"}, each.role)), count,
      element("td", {class: "wide"}, types));
  });
  main.append(element("h1", {}, "Relations"),
    table([head("Name"), head("Role"), head("Rows", true), element("th", {scope: "col", class: "wide"}, "Columns")],
      rows, "Relations"));
  return onEpoch((epoch) => {
    for (const [name, cell] of counts) {
      const now = number(epoch.sizes[name]);
      if (epoch.sizes[name] === undefined || now === cell.textContent) continue;
      cell.textContent = now;
      cell.classList.remove("moved");
      void cell.offsetWidth;
      cell.classList.add("moved");
    }
  });
}

export function relation(main, name) {
  const declared = schema.relations.find((each) => each.name === name);
  if (!declared) {
    main.append(element("h1", {}, `There is no relation ${name}`));
    return () => {};
  }
  let offset = 0, order = "", epoch = "", wait;
  const path = `/relations/${encodeURIComponent(name)}/rows`;
  const filter = element("input", {type: "search", oninput: () => { clearTimeout(wait); wait = setTimeout(() => show(0), 250); }});
  const past = element("input", {type: "number", min: "0", placeholder: "now",
    onchange: () => { epoch = past.value; show(0); }});
  const place = element("div");
  const question = element("input", {placeholder: `${name}(…)`, "aria-label": "A row that is missing"});
  main.append(element("h1", {}, name, " ", element("span", {class: "badge"}, declared.role)),
    element("div", {class: "bar"},
      field("Filter", filter), schema.durable ? field("As of epoch", past) : null,
      element("button", {onclick: () => save(path, "application/x-ndjson", `${name}.jsonl`)}, "Download JSON lines"),
      element("button", {onclick: () => save(path, "application/vnd.apache.arrow.stream", `${name}.arrows`)}, "Download Arrow")),
    place,
    element("form", {class: "bar", onsubmit: (event) => {
      event.preventDefault();
      explain({ask: "why_not", question: question.value});
    }}, field("A row that is missing", question), element("button", {}, "Why not?")));
  async function show(at) {
    offset = at;
    const asked = new URLSearchParams({limit: PAGE, offset, order, contains: filter.value, epoch});
    try {
      const found = await ask(`${path}?${asked}`);
      const old = place.querySelector(".scroll")?.scrollTop ?? 0;
      place.replaceChildren(pager(found, offset, show), rowTable(found, {
        label: `Rows of ${name}`, order, sort: (by) => { order = by; show(0); },
        click: epoch === "" ? (row) => explain({relation: name, row}) : null,
      }));
      place.querySelector(".scroll").scrollTop = old;
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  }
  show(0);
  let due = false;
  return onEpoch(() => {
    if (due || epoch !== "") return;
    due = true;
    setTimeout(() => { due = false; show(offset); }, 400);
  });
}
