// The circuit as a picture, and the durable state.
import {ask, schema} from "./api.js";
import {element, failure} from "./page.js";

export function circuit(main) {
  main.append(element("h1", {}, "Circuit"),
    element("div", {class: "picture", tabindex: "0", role: "region", "aria-label": "Circuit"},
      element("img", {src: "/circuit", alt: "The circuit of the program"})),
    element("p", {}, element("a", {href: "/circuit?format=text"}, "As text")));
  return () => {};
}

export function state(main) {
  const place = element("div");
  main.append(element("h1", {}, "State"), place);
  if (!schema.durable) {
    place.append(element("p", {}, "The session has no state: what it holds ends with the server. ",
      "Start the server with --state FILE to keep it."));
    return () => {};
  }
  ask("/state").then(
    (found) => place.replaceChildren(element("pre", {tabindex: "0"}, found.lines.join("\n"))),
    (error) => place.replaceChildren(failure(error)));
  return () => {};
}
