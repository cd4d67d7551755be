// The page's frame: header, headings, filter box, folds and plain tables; one column on a phone.

export const frameStyle = `
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem 1rem; }
header #live { margin-left: auto; }
#live::before { content: ""; display: inline-block; width: .5rem; height: .5rem; margin-right: .4rem; border-radius: 50%; background: currentColor; }
#state { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem 1rem; min-width: 0; }
h1 { font-size: 1.2rem; margin: 0; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0; }
h2 small { font-size: .8rem; font-weight: 400; color: var(--soft); }
h3 { font-size: .9rem; margin: 0; font-weight: 600; }
p, ul, ol, dl, dd, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
section, .fold { margin-top: 1.6rem; }
section section { margin-top: 1.1rem; }
a { color: var(--accent); }
code, pre, kbd, .what, .host, .place { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.soft { color: var(--soft); font-size: .85rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
.pill { padding: .2rem .7rem; border-radius: .8rem; font-weight: 600; font-size: .9rem; }
[data-tone=good].pill, .state.good, .state.over { background: var(--good-bg); color: var(--good); }
[data-tone=warn].pill, .state.warn, .state.warning { background: var(--warn-bg); color: var(--warn); }
[data-tone=bad].pill, .state.bad, .state.error { background: var(--bad-bg); color: var(--bad); }
[data-tone=idle].pill, .state.idle { background: var(--idle-bg); color: var(--ink); }
.state { display: inline-block; white-space: nowrap; padding: 0 .45rem; border-radius: .3rem; font-size: .78rem; font-weight: 600; }
.heading { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin-bottom: .6rem; }
.filter { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
.filter label { font-size: .85rem; color: var(--soft); }
.filter input { width: 19rem; max-width: 100%; padding: .4rem .65rem; font: inherit; font-size: .9rem; color: var(--ink);
  background: var(--card); border: 1px solid var(--soft); border-radius: .45rem; }
kbd { padding: .05rem .4rem; font-size: .8rem; color: var(--soft); border: 1px solid var(--edge); border-bottom-width: 2px; border-radius: .3rem; background: var(--card); }
summary { cursor: pointer; }
.fold > summary { color: var(--soft); font-size: .95rem; }
.fold > summary h2 { display: inline; color: var(--ink); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; margin-top: .4rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-bottom: 1px solid var(--edge); }
th { color: var(--soft); font-weight: 600; font-size: .78rem; white-space: nowrap; }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
tbody tr:last-child td { border-bottom: 0; }
.scroll td { min-width: 5.5rem; }
.scroll td:first-child { white-space: nowrap; }
#findings td:nth-child(2), #findings td:nth-child(9) { min-width: 10rem; }
#problems td:nth-child(2), #findings td:nth-child(7), #feeds td:nth-child(8) { min-width: 18rem; }
#table-config td { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .8rem; }
@media (max-width: 44rem) {
  body { padding: .75rem .75rem 2rem; }
  .filter, .filter input { width: 100%; }
  .filter label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .filter kbd { display: none; }
  header #live { margin-left: 0; }
}
`
