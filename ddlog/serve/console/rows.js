// Rows in a window of the server's list: only one page of them is here.
import {element, head, number, table, text} from "./page.js";

export const PAGE = 100;

export const cells = (row, columns) => Array.isArray(row) || typeof row !== "object" || row === null
  ? [row] : columns.map((each) => row[each.name]);

const isNumber = (type) => /^(bit|signed|bigint|float|double|[us]\d)/.test(type);

export function rowTable(found, {label, sort, order, click}) {
  const heads = found.columns.map((each) => {
    const is = order.replace("-", "") === each.name;
    const button = sort
      ? element("button", {class: "plain", onclick: () => sort(order === each.name ? `-${each.name}` : each.name)},
        each.name + (is ? (order.startsWith("-") ? " ↓" : " ↑") : ""))
      : each.name;
    const made = head(button, isNumber(each.type), element("span", {class: "soft wide"}, ` ${each.type}`));
    if (is) made.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
    return made;
  });
  const rows = found.rows.map((row) => element("tr", {},
    cells(row, found.columns).map((value, at) => {
      const shown = text(value);
      return element("td", {class: isNumber(found.columns[at]?.type ?? "") ? "number" : null},
        click && at === 0 ? element("button", {class: "plain", title: "Why?", onclick: () => click(row)}, shown) : shown);
    })));
  return table(heads, rows, label);
}

export function pager(found, offset, go) {
  const last = Math.max(0, Math.floor((found.count - 1) / PAGE) * PAGE);
  const button = (name, at, able) => element("button", {disabled: !able, onclick: () => go(at)}, name);
  return element("div", {class: "bar"},
    button("First", 0, offset > 0), button("Previous", Math.max(0, offset - PAGE), offset > 0),
    element("span", {class: "soft"},
      found.count ? `${number(offset + 1)} to ${number(Math.min(offset + PAGE, found.count))} of ${number(found.count)}` : "no rows"),
    button("Next", offset + PAGE, offset < last), button("Last", last, offset < last));
}
