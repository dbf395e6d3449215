// SPDX-License-Identifier: Apache-2.0
// report.html: a page with plots that needs neither network nor other files. The numbers go in as JSON, a script of a
// few lines draws them.
//
// Note: layer names come from the model and may hold anything; they reach the page as JSON text or
// escaped, never as markup.
#include <cstdio>

#include "analysis/accuracy.h"
#include "base/json.h"

namespace rk::analysis {
namespace {

// Of the worst output; a rule of thumb, which the page says to check on the task's own data.
constexpr double kGoodCosine = 0.99, kPoorCosine = 0.95;

// In an order that page_script() knows.
Json errors_json(const std::optional<Errors>& errors) {
  if (!errors) return {};
  return Json::array({errors->cosine, errors->euclidean, errors->max_abs, errors->sqnr_db});
}

Json layer_json(const Layer& layer) {
  const auto number = [](float value) { return Json(static_cast<double>(value)); };
  Json out = Json::object({{"name", layer.name},
                           {"type", layer.type},
                           {"float", layer.is_float},
                           {"low", number(layer.low)},
                           {"high", number(layer.high)},
                           {"min", number(layer.seen_min)},
                           {"max", number(layer.seen_max)},
                           {"sat", layer.saturated},
                           {"entire", errors_json(layer.entire)},
                           {"single", errors_json(layer.single)},
                           {"board", errors_json(layer.board_entire)}});
  out.set("bins", Json::array_of(layer.histogram));
  return out;
}

// JSON that cannot end the script element it stands in.
std::string page_data(const AccuracyReport& report) {
  std::string out = "[";
  for (const Layer& layer : report.layers) {
    out += out.size() > 1 ? ",\n" : "\n";
    out += write_json(layer_json(layer));
  }
  out += "\n]";
  for (size_t at = 0; (at = out.find("</", at)) != std::string::npos;) out.replace(at, 2, "<\\/");
  for (size_t at = 0; (at = out.find("<!", at)) != std::string::npos;)
    out.replace(at, 2, "\\u003c!");
  return out;
}

constexpr std::string_view kPageHead =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Accuracy analysis</title>
<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:2px 8px;text-align:right}
td:first-child,th:first-child{text-align:left}tr:hover{background:#eef;cursor:pointer}svg{background:#fafafa}
.poor{background:#ffd}.bad{background:#fdd}th{cursor:pointer}pre{background:#f4f4f4;padding:6px}
#about td{text-align:left}</style>
<h1>Accuracy analysis</h1>
)";

constexpr std::string_view kPlots =
    R"(<h2>Cosine of each layer against the float model</h2>
<p>Blue: accumulated (entire). Orange: the layer alone, fed with golden inputs (single). The remedy belongs where orange
is low. Click a dot or a row for the distribution and, in red, the range that int8 can hold.</p>
<svg id="plot" width="1000" height="220"></svg><h2 id="title"></h2><svg id="hist" width="1000" height="170"></svg>
<h2>Layers, worst first</h2><p><input id="filter" placeholder="part of a name or type" aria-label="filter layers">
A click on a heading sorts by it.</p><table id="layers"></table>
)";

constexpr std::string_view kPageScript = R"js(
const svg=(id,s)=>document.getElementById(id).innerHTML=s;
const cosines=L.flatMap(l=>[l.entire,l.single]).filter(e=>e&&e[0]!==null).map(e=>e[0]);
const floor=Math.max(-1,Math.min(.95,...cosines)-.01),w=970/Math.max(1,L.length);
const y=c=>210-200*(c-floor)/(1-floor);
let s='';for(let k=0;k<=4;k++){const c=floor+(1-floor)*k/4;
s+=`<line x1="30" x2="1000" y1="${y(c)}" y2="${y(c)}" stroke="#ddd"/><text x="0" y="${y(c)+4}" font-size="10">${c.toFixed(3)}</text>`;}
L.forEach((l,i)=>{for(const [k,c] of [['entire','#36c'],['single','#e80']])if(l[k]&&l[k][0]!==null)
s+=`<circle cx="${30+(i+.5)*w}" cy="${y(l[k][0])}" r="4" fill="${c}" onclick="show(${i})"><title>${text(
`[${l.type}] ${l.name} (${k}): ${l[k][0].toFixed(5)}`)}</title></circle>`;});svg('plot',s);
function text(t){return t.replace(/&/g,'&amp;').replace(/</g,'&lt;');}
function show(i){const l=L[i],m=Math.max(1,...l.bins.map(b=>Math.log1p(b)));
const left=l.float?l.min:Math.min(l.min,l.low),right=l.float?l.max:Math.max(l.max,l.high),span=(right-left)||1;
const x=v=>(v-left)/span*1000,bin=(l.max-l.min)/Math.max(1,l.bins.length);let t='';
l.bins.forEach((b,k)=>{const h=140*Math.log1p(b)/m;t+=`<rect x="${x(l.min+k*bin)}" y="${150-h}" height="${h}"
 width="${Math.max(1,bin/span*1000-1)}" fill="#9bd"/>`;});
if(!l.float)for(const v of [l.low,l.high])t+=`<line x1="${x(v)}" x2="${x(v)}" y1="0" y2="150" stroke="#c00"/>`;
t+=`<text x="0" y="165" font-size="11">${n(left)}</text><text x="1000" y="165" font-size="11" text-anchor="end">${n(right)}</text>`;
svg('hist',t);document.getElementById('title').textContent=`[${l.type}] ${l.name}: holds ${n(l.min)} .. ${n(l.max)}, `+
(l.float?'float16':`int8 can hold ${n(l.low)} .. ${n(l.high)}, ${(100*l.sat).toFixed(3)} % saturate`);}
function n(v){return v===null?'not finite':v.toPrecision(5);}
const at=(e,k)=>e&&e[k]!==null?e[k]:NaN,digits=(v,d)=>isNaN(v)?'':v.toFixed(d);
const columns=[['layer',l=>`[${l.type}] ${l.name}`],['type',l=>l.float?'float16':'int8'],
['entire cos',l=>at(l.entire,0),5],['entire euc',l=>at(l.entire,1),4],['single cos',l=>at(l.single,0),5],
['single euc',l=>at(l.single,1),4],['single max abs',l=>at(l.single,2),4],['single SQNR dB',l=>at(l.single,3),1],
['saturated %',l=>100*l.sat,3]];
if(L.some(l=>l.board))columns.push(['board cos',l=>at(l.board,0),5]);
const T=document.getElementById('layers'),wanted=document.getElementById('filter');
const worth=(v,up)=>typeof v==='string'?v:isNaN(v)?(up?Infinity:-Infinity):v;
let order=L.map((l,i)=>i),up=true,by=7;
function sort(k,again){up=again&&by===k?!up:true;by=k;const f=columns[k][1];
order.sort((a,b)=>{const x=worth(f(L[a]),up),y=worth(f(L[b]),up);return (x<y?-1:x>y?1:a-b)*(up?1:-1);});table();}
function table(){T.innerHTML='';const head=T.insertRow();columns.forEach(([name],k)=>{const h=document.createElement('th');
h.textContent=name;h.tabIndex=0;h.onclick=()=>sort(k,true);h.onkeydown=e=>{if(e.key==='Enter')sort(k,true);};head.append(h);});
const part=wanted.value.toLowerCase();for(const i of order){const l=L[i],r0=`[${l.type}] ${l.name} ${l.float?'float16':'int8'}`;
if(!r0.toLowerCase().includes(part))continue;const r=T.insertRow();r.onclick=()=>show(i);
const c=l.single?l.single[0]:1;r.className=c<.9?'bad':c<.98?'poor':'';
for(const [,f,d] of columns){const v=f(l);r.insertCell().textContent=typeof v==='string'?v:digits(v,d);}}}
wanted.oninput=table;sort(7,false);
if(order.length)show(order[0]);
)js";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return safe;
}

std::string list(std::string_view title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string out = str("<h2>", title, "</h2><ul>\n");
  for (const std::string& sentence : sentences) out += str("<li>", escaped(sentence), "</li>\n");
  return out + "</ul>\n";
}

std::string about_table(const AccuracyReport& report) {
  std::string out = "<table id=\"about\">\n";
  const auto row = [&](std::string_view name, std::string_view value) {
    out += str("<tr><td>", escaped(name), "</td><td>", escaped(value), "</td></tr>\n");
  };
  for (const auto& [name, value] : report.about) row(name, value);
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "cosine %.5f, SQNR %.1f dB", report.outputs[i].cosine,
                  report.outputs[i].sqnr_db);
    row(str("output ", i), text);
  }
  const double worst = report.worst_output_cosine();
  row("verdict", report.outputs.empty() ? "no float output to judge"
                 : worst >= kGoodCosine ? "close to the float model"
                 : worst >= kPoorCosine
                     ? "some loss: judge it on your data set, and see what would help below"
                     : "far from the float model: see what would help below");
  return out + "</table>\n";
}

}  // namespace

std::string to_html(const AccuracyReport& report) {
  std::vector<std::string> proposals;
  for (const Proposal& proposal : report.proposals) {
    char text[96];
    std::snprintf(text, sizeof text, ": cosine of the worst output %.5f \u2192 %.5f",
                  proposal.cosine_before, proposal.cosine_after);
    proposals.push_back(proposal.text + text);
  }
  std::string out(kPageHead);
  out += about_table(report);
  out += list("What would help (measured)", proposals);
  out += list("What was found", report.findings);
  out += kPlots;
  out += str("<script>\nconst L=", page_data(report), ";", kPageScript, "</script></html>\n");
  return out;
}

}  // namespace rk::analysis
