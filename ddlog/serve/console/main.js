// The pages, by the part of the address after `#`.
import {refresh, watch} from "./api.js";
import {changes} from "./changes.js";
import {failure} from "./page.js";
import {program} from "./program.js";
import {query} from "./query.js";
import {relation, relations} from "./relations.js";
import {circuit, state} from "./state.js";
import {write} from "./write.js";

const PAGES = {relations, query, write, changes, program, circuit, state};
const main = document.querySelector("main");
const status = document.querySelector("#status");
let leave = () => {};

function show() {
  leave();
  const [, name = "", part] = location.hash.split("/");
  const page = PAGES[name] ? name : "relations";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren();
  leave = page === "relations" && part ? relation(main, decodeURIComponent(part)) : PAGES[page](main);
  document.title = `${main.querySelector("h1").textContent} – ddlog`;
}

try {
  await refresh();
  show();
  addEventListener("hashchange", show);
  watch((told) => { status.textContent = told; });
} catch (error) {
  main.replaceChildren(failure(error));
}
