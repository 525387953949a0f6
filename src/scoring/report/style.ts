// How report.html looks.
export const STYLE = `
:root { color-scheme: light dark; --bg: #fbfaf8; --card: #ffffff; --ink: #1d2126; --soft: #626b76; --line: #e2e0da;
  --c0: #2f6db5; --c1: #d0632b; --c2: #8a62b8; --c3: #2f8f6b; --c4: #8c8471; --good: #2f8f6b; --bad: #c1443c; --warn: #b7831d; }
@media (prefers-color-scheme: dark) { :root { --bg: #15181c; --card: #1d2126; --ink: #e6e8ea; --soft: #9aa4af; --line: #30363d;
  --c0: #6ea8ea; --c1: #f0905c; --c2: #b996e3; --c3: #5cc49b; --c4: #b5ab94; --good: #5cc49b; --bad: #ef7b72; --warn: #e0b04f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 4px; overflow-wrap: anywhere; }
.sub, .small, footer { color: var(--soft); }
.sub { margin: 0 0 18px; }
.small { font-size: 12.5px; }
.note { background: var(--card); border-left: 3px solid var(--warn); padding: 8px 12px; border-radius: 4px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 0 0 20px; }
.tile, figure, details { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.tile { padding: 12px 14px; }
.value { font-size: 25px; font-weight: 650; font-variant-numeric: tabular-nums; }
.label { font-size: 13.5px; }
.charts { columns: 460px 2; column-gap: 14px; margin: 18px 0 4px; }
figure { margin: 0 0 14px; padding: 12px 14px; break-inside: avoid; display: inline-block; width: 100%; }
figcaption { font-weight: 600; margin-bottom: 6px; }
figure p { margin: 4px 0 0; }
svg { width: 100%; max-width: 640px; height: auto; display: block; margin: 0 auto; }
svg text { fill: var(--ink); font-size: 12px; }
svg .tick, svg .axis { fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; }
.line { fill: none; stroke: currentColor; stroke-width: 2.2; }
.line.dashed { stroke-dasharray: 6 4; }
.dot, .bar { fill: currentColor; }
.point { fill: currentColor; opacity: .55; }
.band { fill: currentColor; opacity: .13; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); }
.legend { font-size: 13px; }
.key { display: inline-block; width: 22px; border-top: 3px solid currentColor; vertical-align: middle; margin: 0 6px 2px 0; }
.key + .key { margin-left: 14px; }
.key.dashed { border-top-style: dashed; margin-left: 12px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: 12.5px; white-space: nowrap; }
details { padding: 10px 14px; margin: 12px 0; }
summary { cursor: pointer; font-weight: 600; }
.badge { font-size: 12.5px; padding: 1px 8px; border-radius: 9px; border: 1px solid currentColor; white-space: nowrap; }
.always, .solved { color: var(--good); } .never, .failed { color: var(--bad); } .wavers { color: var(--warn); }
.not-scored, .unscored, .not-scored-yet, .not-played { color: var(--soft); }
h3 { font-size: 17px; margin: 28px 0 8px; }
details details { background: var(--bg); }
summary { overflow-wrap: anywhere; }
summary .small { font-weight: 400; }
.rollout { border-top: 1px solid var(--line); margin-top: 12px; padding-top: 12px; overflow-wrap: anywhere; }
.rollout .evidence { margin: 6px 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 12px; margin: 10px 0 0; font-size: 13.5px; }
dt { color: var(--soft); font-size: 12.5px; text-align: right; }
dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
dt.user { color: var(--c1); } dt.agent { color: var(--c0); } dt.error { color: var(--bad); }
dd.thinks { color: var(--soft); }
dd.calls, dd.result, dd.error { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
.evidence { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; }
footer { margin-top: 30px; border-top: 1px solid var(--line); font-size: 12.5px; }
`;
