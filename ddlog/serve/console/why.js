// Explanations in a dialog.
import {ask} from "./api.js";
import {written} from "./json.js";
import {element, failure} from "./page.js";

const TITLES = {why: "Why it holds", why_not: "Why it does not hold", why_change: "Why it changed",
  why_ends: "What ends it", why_all: "Each derivation"};

export async function explain(asked) {
  const body = element("div", {}, "…");
  const others = element("div", {class: "bar"});
  const dialog = element("dialog", {"aria-label": "Explanation", onclose: () => dialog.remove()},
    element("div", {class: "bar"}, others,
      element("button", {onclick: () => dialog.close()}, "Close")), body);
  document.body.append(dialog);
  dialog.showModal();
  const show = async (word) => {
    others.replaceChildren(...Object.entries(TITLES).map(([name, title]) => element("button",
      {class: name === word ? "main" : null, "aria-pressed": String(name === word), onclick: () => show(name)}, title)));
    try {
      const found = await ask("/why", {...asked, ask: word});
      body.replaceChildren(...[found].flat().map((each) => element("ul", {class: "tree"}, node(each))));
    } catch (error) {
      body.replaceChildren(failure(error));
    }
  };
  await show(asked.ask ?? "why");
}

function node(each) {
  const variables = Object.entries(each.variables ?? {}).map(([name, value]) => `${name} = ${written(value)}`);
  return element("li", {},
    element("code", {}, each.title), " ",
    ...each.notes.map((note) => element("span", {class: "badge"}, note)),
    each.rule ? element("span", {class: "rule"}, each.rule + (each.place ? `  line ${each.place.line}` : "")) : null,
    variables.length ? element("span", {class: "rule"}, variables.join(", ")) : null,
    each.children.length ? element("ul", {}, each.children.map(node)) : null);
}
