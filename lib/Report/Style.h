//===- Style.h - Colours and sizes of the report ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two sets of colours, by what the reader's system prefers; on paper the light one.
// Drawings use the same names: p product, e elementwise, t transfer, ld and st device
// memory, ri ring. Private to the report.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_STYLE_H
#define SPYRE_LIB_REPORT_STYLE_H

namespace spyre::report {

inline constexpr const char *kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2430;--muted:#566171;--rule:#ccd3dd;--soft:#e6eaef;--panel:#f2f5f8;
--link:#1f5fa8;--p:#d9822b;--e:#3f9a5f;--t:#3a78bf;--st:#0f8a94;--ri:#8a4fa8;--lost:#b3404e;--small:#8d98a6;--bar:#f3ccd1}
@media (prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e4e9ef;--muted:#9aa6b4;--rule:#3a444f;--soft:#232b34;--panel:#1b222a;
--link:#7db4ee;--p:#e39a4d;--e:#5cb87d;--t:#6aa5e6;--st:#3fb4bd;--ri:#b583d1;--lost:#e0727f;--small:#6b7683;--bar:#5d2a33}}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#1c2430;--muted:#566171;--rule:#ccd3dd;--soft:#e6eaef;--panel:#f2f5f8;
--link:#1f5fa8;--p:#d9822b;--e:#3f9a5f;--t:#3a78bf;--st:#0f8a94;--ri:#8a4fa8;--lost:#b3404e;--small:#8d98a6;--bar:#f3ccd1}}
body{font:14px/1.45 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:2em auto;max-width:1180px;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.1em}h2{font-size:1.2em;margin:1.8em 0 .4em;border-bottom:1px solid var(--rule)}
h3{font-size:1em;margin:1.2em 0 .3em}.note,figcaption{color:var(--muted)}figcaption{font-size:12.5px}
a{color:var(--link)}nav a{margin-right:1.2em}figure{margin:.6em 0}
table{border-collapse:collapse;width:100%;font-size:12.5px}
th,td{text-align:left;padding:.25em .6em;border-bottom:1px solid var(--soft);vertical-align:top}
th{background:var(--panel);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr{break-inside:avoid}tr:target td{background:var(--panel)}code{font:12px ui-monospace,monospace}
.total td,.total th{font-weight:600;border-top:1px solid var(--rule)}table.engines{margin:.4em 0 0}
.depth1{padding-left:2em}.depth2{padding-left:3.5em}.depth3{padding-left:5em}
.tiles{display:flex;flex-wrap:wrap;gap:.6em;margin:.8em 0}.tile{border:1px solid var(--rule);border-radius:4px;padding:.4em .9em}
.tile b{display:block;font-size:1.15em}
.key{display:inline-block;width:1.1em;height:.8em;margin:0 .35em 0 1em;vertical-align:-1px}
.bar{display:inline-block;height:.65em;background:var(--t);vertical-align:middle}
.lost{background:linear-gradient(to left,var(--bar) var(--share),transparent var(--share))}
.compute{color:var(--p)}.bandwidth{color:var(--t)}.ring{color:var(--ri)}
svg{width:100%;height:auto;background:var(--bg)}svg.patterns{width:0;height:0;position:absolute}
svg text{font-size:11px;fill:var(--fg)}svg text.end{text-anchor:end}svg text.mid{text-anchor:middle}
svg text.name{paint-order:stroke;stroke:var(--bg);stroke-width:2.5px;stroke-opacity:.75}
.axis,.grid,.edge,.usable,.ceiling{fill:none}.axis{stroke:var(--muted)}.grid{stroke:var(--soft)}
.edge{stroke:var(--muted);stroke-dasharray:2 3}.usable{stroke:var(--lost);stroke-dasharray:6 4}.ceiling{stroke:var(--fg);stroke-width:1.6}
.p{fill:var(--p)}.e{fill:var(--e)}.t,.ld{fill:var(--t)}.st{fill:var(--st)}.ri{fill:var(--ri)}.lane{fill:var(--panel)}
.wait{fill-opacity:.3}.op{fill-opacity:.6;stroke:var(--bg);stroke-width:.6}circle.op{stroke:var(--fg)}
.buf{fill-opacity:.35;stroke:var(--bg)}.buf.p{stroke:var(--p)}.buf.e{stroke:var(--e)}.buf.t{stroke:var(--t);fill-opacity:.2}
.small{fill:var(--small);fill-opacity:.7}.in{fill:url(#down)}.out{fill:url(#up)}.hatch{fill:none;stroke-width:1.3}
.hatch.t{stroke:var(--t)}.hatch.s{stroke:var(--st)}.loop{fill:var(--panel);stroke:var(--muted)}
.least{fill:var(--e);fill-opacity:.7}.modelled{fill:var(--lost);fill-opacity:.7}
span.key.p{background:var(--p)}span.key.e{background:var(--e)}span.key.t,span.key.ld{background:var(--t)}
span.key.st{background:var(--st)}span.key.ri{background:var(--ri)}
@media print{body{margin:0;max-width:none;font-size:11px}h2{break-after:avoid}}
)";

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_STYLE_H
