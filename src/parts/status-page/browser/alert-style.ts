// Styles of alerts: a row per indicator, which becomes a card on a phone, and level labels.

export const alertStyle = `
.sums { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1rem; margin-bottom: .6rem; color: var(--soft); font-size: .9rem; }
.sum { display: inline-flex; align-items: center; gap: .4rem; }
.sum b { color: var(--ink); font-size: 1.05rem; font-variant-numeric: tabular-nums; }
.level { display: inline-flex; align-items: center; gap: .4rem; padding: .15rem .55rem; border-radius: .35rem;
  font-size: .74rem; font-weight: 700; letter-spacing: .03em; text-transform: uppercase; white-space: nowrap; }
.level svg { width: 1.05rem; height: .65rem; fill: currentColor; }
.level .off { opacity: .3; }
.level.critical { background: var(--critical); color: var(--critical-ink); }
.level.high { background: var(--high); color: var(--high-ink); }
.level.medium { background: var(--medium); color: var(--medium-ink); }
.level.low { background: var(--low); color: var(--low-ink); }
.level.informational { background: var(--informational); color: var(--informational-ink); }
table.alerts { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; border-collapse: separate; border-spacing: 0; table-layout: fixed; }
.alerts th, .alerts td { padding: .55rem .7rem; }
.alerts th:nth-child(1) { width: 7.5rem; }
.alerts th:nth-child(2) { width: 18.5%; }
.alerts th:nth-child(4) { width: 16%; }
.alerts th:nth-child(5) { width: 13%; }
.alerts th:nth-child(6) { width: 11.5%; }
body[data-few]:not([data-filtered]) .more { display: none; }
#show-all { display: none; margin-top: .6rem; padding: .35rem .9rem; font: inherit; font-size: .88rem; color: var(--accent); background: var(--card);
  border: 1px solid var(--accent); border-radius: .45rem; cursor: pointer; }
body[data-few]:not([data-filtered]) #show-all { display: inline-block; }
.alerts tbody tr:hover { background: var(--hover); }
.alerts td > span, .alerts td > a.what { display: block; }
.alerts td > .level { display: inline-flex; }
.what { font-weight: 650; font-size: .85rem; }
.host, .place { font-size: .82rem; }
.tag { display: inline-block; margin-right: .4rem; padding: 0 .35rem; border: 1px solid var(--edge); border-radius: .3rem; color: var(--soft); font-size: .75rem; }
.line { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.alerts details { min-width: 0; }
.alerts summary { position: relative; padding-left: 1rem; list-style: none; }
.alerts summary::-webkit-details-marker { display: none; }
.alerts summary b { font-weight: 600; }
.alerts summary::before { content: ""; position: absolute; left: .1rem; top: .45rem; width: .38rem; height: .38rem; border: solid var(--soft);
  border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); }
.alerts details[open] summary::before { transform: rotate(45deg); top: .35rem; }
.alerts details[open] .line { white-space: normal; }
.alerts pre { margin: .5rem 0; padding: .5rem .65rem; background: var(--paper); border: 1px solid var(--edge);
  border-radius: .4rem; font-size: .78rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.command { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: .5rem 0; }
.command code { font-size: .82rem; overflow-wrap: anywhere; }
.copy { padding: .1rem .6rem; font: inherit; font-size: .8rem; color: var(--accent); background: none; border: 1px solid var(--accent); border-radius: .35rem; cursor: pointer; }
.alerts dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem .8rem; font-size: .82rem; }
.alerts dt { color: var(--soft); }
@media (max-width: 60rem) {
  .alerts, .alerts tbody { display: block; }
  .alerts thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .alerts tr { display: grid; grid-template-columns: 1fr auto; gap: .3rem .75rem; padding: .75rem; border-bottom: 1px solid var(--edge); }
  .alerts tbody tr:last-child { border-bottom: 0; }
  .alerts td { display: block; padding: 0; border: 0; text-align: left; min-width: 0; }
  .alerts td:nth-child(2), .alerts td:nth-child(3), .alerts td:nth-child(4) { grid-column: 1 / -1; }
  .alerts td:nth-child(6) { grid-row: 1; grid-column: 2; text-align: right; }
  .alerts td:nth-child(5) { grid-column: 1 / -1; }
  .alerts td:nth-child(5) span { display: inline; margin-right: .6rem; }
  .alerts td:nth-child(4) .host { display: inline-block; margin-right: .6rem; }
  .alerts td:nth-child(4) .soft { display: inline-block; margin-right: .6rem; }
  .line { white-space: normal; }
}
`
