// The status page's style: light or dark as the reader has it, one column on a phone.

export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #f6f7f9; --card: #fff; --ink: #1b2430; --soft: #566173; --edge: #dde2ea;
  --accent: #1f5fbf; --good: #17703a; --good-bg: #e3f4e8; --warn: #8a5300; --warn-bg: #fff1d6;
  --bad: #b3211e; --bad-bg: #fde6e4; --idle-bg: #eceff4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #10151c; --card: #181f29; --ink: #e6ebf2; --soft: #9fabbd; --edge: #2b3543;
    --accent: #6ea8ff; --good: #6fd693; --good-bg: #12301d; --warn: #f3bd63; --warn-bg: #3a2a0c;
    --bad: #ff938c; --bad-bg: #421716; --idle-bg: #222b37;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .25rem 1rem; }
h1 { font-size: 1.15rem; margin: 0; letter-spacing: .01em; }
h2 { font-size: .8rem; margin: 1.6rem 0 .5rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
h3 { font-size: .85rem; margin: 0; color: var(--soft); font-weight: 600; }
p { margin: 0; }
.small { font-size: .82rem; color: var(--soft); }
.headline { margin-top: .9rem; padding: .8rem 1rem; border-radius: .6rem; font-size: 1.3rem; font-weight: 650; }
.asking { margin-top: .5rem; padding: .55rem 1rem; border-radius: .6rem; }
[data-tone=good].headline, [data-tone=good].asking { background: var(--good-bg); color: var(--good); }
[data-tone=warn].headline, [data-tone=warn].asking { background: var(--warn-bg); color: var(--warn); }
[data-tone=bad].headline, [data-tone=bad].asking { background: var(--bad-bg); color: var(--bad); }
[data-tone=idle].headline, [data-tone=idle].asking { background: var(--idle-bg); color: var(--ink); }
.line { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(6, 1fr); gap: 1.25rem; }
.line.server { grid-template-columns: repeat(3, 1fr); }
.line li { position: relative; background: var(--card); border: 1px solid var(--edge); border-top: 3px solid var(--accent);
  border-radius: .6rem; padding: .6rem .75rem; min-width: 0; }
.line li[data-tone=warn] { border-top-color: var(--warn); }
.line li[data-tone=bad] { border-top-color: var(--bad); }
.line li + li::before { content: ""; position: absolute; left: -1.02rem; top: 50%; width: .5rem; height: .5rem; margin-top: -.25rem;
  border: solid var(--soft); border-width: 2px 2px 0 0; transform: rotate(45deg); }
.rate { font-size: 1.5rem; font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap; }
.unit { font-size: .75rem; font-weight: 400; color: var(--soft); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .75rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: .55rem .75rem .4rem; min-width: 0; }
figcaption { display: flex; justify-content: space-between; gap: .5rem; align-items: baseline; }
.name { font-size: .85rem; color: var(--soft); font-weight: 600; }
.now { white-space: nowrap; font-size: .9rem; font-weight: 650; font-variant-numeric: tabular-nums; text-align: right; }
svg { display: block; width: 100%; height: 3.5rem; margin: .3rem 0; border-bottom: 1px solid var(--edge); }
.curve { fill: none; stroke: var(--accent); stroke-width: 1.75; vector-effect: non-scaling-stroke; stroke-linejoin: round; stroke-linecap: round; }
.area { fill: var(--accent); opacity: .14; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-bottom: 1px solid var(--edge); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .78rem; }
td { font-variant-numeric: tabular-nums; }
tbody tr:last-child td { border-bottom: 0; }
tbody:empty::after { content: attr(data-none); display: block; padding: .5rem .75rem; color: var(--soft); }
a { color: var(--accent); }
#findings td:nth-child(7), #problems td:nth-child(3), #feeds td:nth-child(8), #alerts td:nth-child(3), #rules td:nth-child(1), #seen td:nth-child(5), #seen td:nth-child(6), #config td:nth-child(2) { min-width: 16rem; white-space: normal; overflow-wrap: anywhere; }
#findings td:nth-child(2), #findings td:nth-child(9), #alerts td:nth-child(4) { min-width: 9rem; white-space: normal; overflow-wrap: anywhere; }
#findings td:nth-child(2), #alerts td:nth-child(4) { font-weight: 650; }
#config td { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .8rem; }
summary { cursor: pointer; margin: 1.6rem 0 .5rem; color: var(--soft); font-weight: 600; }
@media (max-width: 62rem) { .line { grid-template-columns: repeat(3, 1fr); } .line li:nth-child(4)::before { display: none; } }
@media (max-width: 36rem) {
  body { padding: .75rem; }
  .headline { font-size: 1.1rem; }
  .line, .line.server { grid-template-columns: 1fr; gap: .9rem; }
  .line li { display: grid; grid-template-columns: 1fr auto; align-items: baseline; column-gap: .75rem; }
  .line li .small { grid-column: 1 / -1; }
  .rate { font-size: 1.2rem; }
  .line li + li::before, .line li:nth-child(4)::before { display: block; left: 50%; top: -.8rem; margin: 0; transform: rotate(135deg); }
}
`
