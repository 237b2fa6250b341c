// The text of the program with the rows and the time of each rule beside it, and another text in its place.
import {ask, schema} from "./api.js";
import {element, failure, field, number} from "./page.js";
import {changeTables} from "./changes.js";

function costs(profile) {
  const found = new Map();
  for (const stratum of profile.strata ?? []) {
    for (const each of stratum.operators) {
      const line = Number(/:(\d+):\d+$/.exec(each.place)?.[1]);
      const sum = found.get(line) ?? {seconds: 0, rows: 0};
      sum.seconds += each.seconds;
      sum.rows += each.rows_out ?? 0;
      found.set(line, sum);
    }
  }
  return found;
}

export function program(main) {
  const place = element("div"), answer = element("div", {role: "status"});
  const area = element("textarea", {rows: "14", spellcheck: "false"});
  main.append(element("h1", {}, "Program"), place);
  if (!schema.readOnly) {
    main.append(element("h2", {}, "Change it"), field("The whole program; its state is kept", area),
      element("p", {class: "bar"}, element("button", {class: "main", onclick: change}, "Go on with this program")), answer);
  }
  async function show() {
    try {
      const [found, profile] = await Promise.all([ask("/program"), ask("/profile").catch(() => ({}))]);
      const by = costs(profile);
      area.value = found.text;
      place.replaceChildren(
        element("p", {class: "soft"}, `${found.name}: ${number(profile.commits)} commits took ${(profile.seconds ?? 0).toFixed(2)} s`),
        element("div", {class: "source", tabindex: "0", role: "region", "aria-label": "Text of the program"},
          found.text.split("\n").flatMap((line, at) => {
            const cost = by.get(at + 1);
            return [element("span", {class: "at"}, String(at + 1)), element("span", {}, line),
              element("span", {class: "cost"}, cost ? `${number(cost.rows)} rows  ${(cost.seconds * 1000).toFixed(1)} ms` : "")];
          })));
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  }
  async function change() {
    try {
      const found = await ask("/program", area.value, {method: "PUT", type: "text/plain"});
      await show();
      answer.replaceChildren(element("p", {}, "The program is another one now."), ...changeTables(found.changes, null));
    } catch (error) {
      answer.replaceChildren(failure(error));
    }
  }
  show();
  return () => {};
}
