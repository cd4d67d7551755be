// Styles of charts: axes in HTML, readable at every width, and a stretched plot between them.

export const chartStyle = `
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: .8rem; margin-top: .6rem; }
.charts.three { grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.chart { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: .7rem .9rem .6rem; min-width: 0; }
.chart figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem .8rem; align-items: baseline; margin-bottom: .2rem; }
.chart .now { font-weight: 650; font-variant-numeric: tabular-nums; }
.chart .now[data-read] { color: var(--accent); }
.plot { padding-top: .6rem; display: grid; grid-template-columns: auto 1fr; gap: 0 .5rem; cursor: crosshair; touch-action: pan-y; }
.axis { display: flex; flex-direction: column; justify-content: space-between; align-items: flex-end; margin: -.5rem 0; color: var(--soft);
  font-size: .74rem; font-variant-numeric: tabular-nums; white-space: nowrap; min-width: 2.6rem; line-height: 1rem; }
.plot svg { display: block; width: 100%; height: 7.5rem; overflow: visible; }
.times { grid-column: 2; display: flex; justify-content: space-between; margin-top: .35rem; color: var(--soft); font-size: .74rem; font-variant-numeric: tabular-nums; }
.plot path { fill: none; vector-effect: non-scaling-stroke; stroke-linejoin: round; stroke-linecap: round; }
.grid { stroke: var(--edge); stroke-width: 1; }
.line.first, .line.second { stroke-width: 2; }
.line.alone { stroke-width: 6; }
.line.first { stroke: var(--accent); }
.line.second { stroke: var(--second); stroke-dasharray: 5 4; }
.plot .area { stroke: none; }
.plot .area.first { fill: var(--accent); opacity: .12; }
.plot .area.second { fill: none; }
.cross { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
.dot { stroke: var(--ink); stroke-width: 8; }
.bar.critical { fill: var(--critical); } .bar.high { fill: var(--high); } .bar.medium { fill: var(--medium); }
.bar.low { fill: var(--low-bar); } .bar.informational { fill: var(--informational-bar); }
.note { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin-top: .35rem; color: var(--soft); font-size: .82rem; min-height: 1.2rem; }
.key::before { content: ""; display: inline-block; width: .7rem; height: .7rem; margin-right: .35rem; border-radius: .15rem; vertical-align: -.05rem; }
.key.first::before { background: var(--accent); }
.key.second::before { height: 0; border-top: 3px dashed var(--second); border-radius: 0; vertical-align: .2rem; width: 1rem; }
.key.critical::before { background: var(--critical); } .key.high::before { background: var(--high); } .key.medium::before { background: var(--medium); }
.key.low::before { background: var(--low-bar); } .key.informational::before { background: var(--informational-bar); }
`
