// Styles of the health cards and the pipeline steps.

export const healthStyle = `
.cards, .steps { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .8rem; margin-top: .6rem; }
.card, .steps li { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: .7rem .9rem; min-width: 0; }
.card { border-left: 4px solid var(--edge); }
.card[data-tone=good] { border-left-color: var(--good); }
.card[data-tone=warn] { border-left-color: var(--warn); }
.card[data-tone=bad] { border-left-color: var(--bad); }
.card h3 { display: flex; justify-content: space-between; gap: .5rem; color: var(--soft); margin-bottom: .2rem; }
.card p { font-size: .9rem; overflow-wrap: anywhere; }
.card p.soft { font-size: .82rem; }
.steps { grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); }
.steps h3 { color: var(--soft); }
.rate b { font-size: 1.35rem; font-variant-numeric: tabular-nums; }
`
