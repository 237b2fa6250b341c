// The changes of each commit as they come, and a timeline of epochs.
import {ask, onEpoch, schema} from "./api.js";
import {element, failure, head, number, table, text} from "./page.js";
import {cells} from "./rows.js";
import {explain} from "./why.js";

const SHOWN = 200;

export function changeTables(changes, epoch) {
  const names = Object.keys(changes);
  if (!names.length) return [element("p", {class: "soft"}, "No output relation changed.")];
  return names.map((name) => {
    const columns = schema.relations.find((each) => each.name === name)?.columns ?? [];
    const rows = changes[name].slice(0, SHOWN).map(({row, weight}) => element("tr", {class: weight > 0 ? "come" : "gone"},
      element("td", {class: "sign"}, weight > 0 ? `+${weight}` : `−${-weight}`),
      cells(row, columns).map((value, at) => element("td", {}, at === 0 && epoch === schema.epoch
        ? element("button", {class: "plain", title: "Why did it change?",
          onclick: () => explain({ask: "why_change", relation: name, row})}, text(value))
        : text(value)))));
    const more = changes[name].length - rows.length;
    return element("section", {}, element("h2", {}, name),
      table([head("±"), ...columns.map((each) => head(each.name))], rows, `Changes of ${name}`),
      more > 0 ? element("p", {class: "soft"}, `and ${number(more)} more`) : null);
  });
}

export function changes(main) {
  const line = element("div", {class: "epochs", role: "group", "aria-label": "Epochs"});
  const title = element("h2", {}, "The last epoch"), place = element("div");
  let following = true, shown = null, busy = false;
  const follow = element("button", {"aria-pressed": "true", onclick: () => { following = true; open(schema.epoch); }}, "Follow");
  main.append(element("h1", {}, "Changes"), line, element("div", {class: "bar"}, follow), title, place);
  function bar(epoch) {
    const rows = Object.values(epoch.changes).reduce((sum, [come, gone]) => sum + come + gone, 0);
    const made = element("button", {"aria-pressed": "false", "data-epoch": epoch.epoch,
      "aria-label": `epoch ${epoch.epoch}, ${rows} changed rows`,
      title: `epoch ${epoch.epoch}: ${rows} changed rows, ${epoch.transactions} transactions`,
      onclick: () => { following = false; open(epoch.epoch); }});
    made.style.height = `${Math.min(64, 6 + 9 * Math.log2(1 + rows))}px`;
    line.append(made);
    while (line.children.length > 500) line.firstChild.remove();
    line.scrollLeft = line.scrollWidth;
  }
  async function open(epoch) {
    if (busy) return;
    busy = true;
    shown = epoch;
    follow.setAttribute("aria-pressed", String(following));
    for (const each of line.children) each.setAttribute("aria-pressed", String(Number(each.dataset.epoch) === epoch));
    title.textContent = `Epoch ${number(epoch)}`;
    try {
      place.replaceChildren(...changeTables((await ask(`/epochs/${epoch}`)).changes, epoch));
    } catch (error) {
      place.replaceChildren(failure(error));
    }
    busy = false;
    if (following && shown !== schema.epoch) setTimeout(() => open(schema.epoch), 300);
  }
  ask("/epochs").then((found) => {
    found.epochs.forEach(bar);
    if (found.epochs.length) open(found.epochs.at(-1).epoch);
    else place.append(element("p", {class: "soft"}, "Nothing was committed since the server began."));
  });
  return onEpoch((epoch) => { bar(epoch); if (following) open(epoch.epoch); });
}
