// Elements, made without markup: texts of facts are texts, whatever is in them.
import {written} from "./json.js";

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((each) => each != null));
  return made;
}

export const number = (value) => value == null ? "–" : value.toLocaleString("en");

export const text = (value) => typeof value === "string" ? value : written(value);

export function field(label, input) {
  return element("label", {}, label, input);
}

export function table(heads, rows, label) {
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label},
    element("table", {},
      element("thead", {}, element("tr", {}, heads)),
      element("tbody", {}, rows)));
}

export function head(name, isNumber = false, ...more) {
  return element("th", {scope: "col", class: isNumber ? "number" : null}, name, ...more);
}

export function failure(error) {
  return element("pre", {class: "error", role: "alert", tabindex: "0"}, error.message);
}
