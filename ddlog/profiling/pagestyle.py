"""The style of the page of a profile, and its script, which sorts tables and tells about frames."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bar: #7aa5d8; --new: #2c66a8; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; padding: 0 .8rem; max-width: 76rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .5rem; }
code, summary, .frame span { font-family: ui-monospace, monospace; font-size: .86em; }
code, summary { overflow-wrap: anywhere; white-space: pre-wrap; }
summary { cursor: pointer; padding: .3rem 0; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
th { cursor: pointer; font-weight: 600; white-space: nowrap; }
th[aria-sort=descending]::after { content: " ▾"; } th[aria-sort=ascending]::after { content: " ▴"; }
th.n { text-align: right; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.flame { display: flex; align-items: flex-start; width: 100%; }
.frame { min-width: 0; overflow: hidden; }
.frame > span { display: block; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; padding: .2rem .3rem; margin: 0 1px 1px 0; border-radius: 3px; color: #111; }
.c0 { background: #f2b56b; } .c1 { background: #f5d38a; } .c2 { background: #e9e2b0; }
.c3 { background: #d4e3b5; } .c4 { background: #c2dcd2; } .rest { background: #bbb; }
.frame > span:focus { outline: 2px solid #2c66a8; outline-offset: -2px; }
.told { min-height: 1.5em; font-family: ui-monospace, monospace; font-size: .86em; overflow-wrap: anywhere; }
.plot { width: 100%; max-width: 60rem; height: auto; font-size: 11px; }
.plot line { stroke: var(--line); } .plot text { fill: currentColor; } .plot circle { fill: var(--new); }
.round { display: grid; grid-template-columns: 3.2rem minmax(4rem, 1fr) minmax(8rem, 20rem); gap: .5rem;
  font-variant-numeric: tabular-nums; font-size: .86em; align-items: center; }
.round > span:first-child { text-align: right; }
.bars { position: relative; height: .9em; background: var(--soft); }
.bars i, .bars b { position: absolute; left: 0; top: 0; bottom: 0; background: var(--bar); }
.bars b { background: var(--new); }
.order { display: none; }
@media (max-width: 46rem) {
  thead { display: none; } table, tbody, tr, td { display: block; }
  tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  td, td.n { border: 0; padding: .05rem 0; text-align: left; white-space: normal; }
  td.n { display: inline-block; margin-right: .9rem; } td:empty { display: none; }
  td::before { content: attr(data-label) " "; opacity: .65; font-size: .86em; }
  td:first-child::before { content: ""; }
  .plot { font-size: 14px; }
  .order { display: block; margin: .3rem 0; font: inherit; }
}
"""

SCRIPT = """
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.n === undefined ? cell.textContent : Number(cell.dataset.n);
  };
  const sort = (at, turn) => {
    const was = heads[at].getAttribute('aria-sort');
    const down = turn && was ? was !== 'descending' : body.rows[0]?.cells[at].dataset.n !== undefined;
    heads.forEach(head => head.removeAttribute('aria-sort'));
    heads[at].setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...body.rows].map(row => [key(row, at), row]);
    rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1));
    body.append(...rows.map(each => each[1]));
  };
  heads.forEach((head, at) => {
    head.onclick = () => sort(at, true);
    head.onkeydown = event => { if (event.key === 'Enter') sort(at, true); };
  });
  if (body.rows.length > 2) {  // a narrow page has no heads
    const order = document.createElement('select');
    order.className = 'order';
    order.setAttribute('aria-label', 'sort by');
    order.append(new Option('sort by …', ''));
    heads.forEach((head, at) => order.append(new Option(head.textContent, at)));
    order.onchange = () => { if (order.value !== '') sort(Number(order.value), false); };
    table.parentNode.before(order);
  }
}
for (const flame of document.querySelectorAll('section > .flame, details > .flame')) {
  const told = document.createElement('div');
  told.className = 'told';
  flame.after(told);
  const tell = event => { if (event.target.title) told.textContent = event.target.title; };
  flame.onclick = flame.onmouseover = tell;
  flame.addEventListener('focusin', tell);
}
"""
