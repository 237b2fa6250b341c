// JSON with exact integers: those that a number of JavaScript may not hold are BigInts.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const MARK = `exact:${Math.random()}:`;

export function parsed(given) {
  const marked = given.replace(TOKEN, (token) => token.length > 15 && /^-?\d+$/.test(token) ? `"${MARK}${token}"` : token);
  if (marked === given) return JSON.parse(given);
  return JSON.parse(marked, (_, value) => typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);
}

export function written(value) {
  const marked = JSON.stringify(value, (_, each) => typeof each === "bigint" ? `${MARK}${each}` : each);
  return marked?.replaceAll(new RegExp(`"${MARK}(-?\\d+)"`, "g"), "$1");
}
