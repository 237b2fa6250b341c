// Requests to the server. The cookie of the first visit has the token.
import {parsed, written} from "./json.js";

export async function ask(path, body, {method, type = "application/json", accept} = {}) {
  const answer = await fetch(path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {...(body === undefined ? {} : {"content-type": type}), ...(accept ? {accept} : {})},
    body: body === undefined || typeof body === "string" ? body : written(body),
  });
  const isJson = (answer.headers.get("content-type") ?? "").includes("json");
  const told = await answer.text(), found = isJson ? parsed(told) : told;
  if (!answer.ok) {
    const errors = found.errors ?? [{text: String(found)}];
    throw new Error(errors.map((each) => each.text).join("\n"));
  }
  return found;
}

export async function save(path, accept, name) {
  const answer = await fetch(path, {headers: {accept}});
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export const schema = {relations: [], epoch: 0};

export async function refresh() {
  Object.assign(schema, await ask("/schema"));
}

const listeners = new Set();

export function onEpoch(listen) {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

export function watch(status) {
  const source = new EventSource("/watch");
  source.addEventListener("epoch", (event) => {
    const epoch = JSON.parse(event.data);
    schema.epoch = epoch.epoch;
    for (const each of schema.relations) each.rows = epoch.sizes[each.name] ?? each.rows;
    status(`epoch ${epoch.epoch.toLocaleString("en")}`);
    for (const listen of [...listeners]) listen(epoch);
  });
  source.addEventListener("program", async () => {
    await refresh();
    if (location.hash !== "#/program") dispatchEvent(new Event("hashchange"));
  });
  source.onopen = () => status(`epoch ${schema.epoch.toLocaleString("en")}${schema.readOnly ? ", read-only" : ""}`);
  source.onerror = () => status("not connected");
}
