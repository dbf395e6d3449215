// SPDX-License-Identifier: Apache-2.0
// The table that users know, and a page with plots that needs neither network nor other files.
#include <cstdio>
#include <filesystem>

#include "analysis/accuracy.h"
#include "base/file.h"
#include "base/json.h"

namespace rk::analysis {
namespace {

constexpr int kNameColumns = 60;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// About six characters: 4.1079, 13.235, 0.0.
std::string six(double value) {
  if (value == 0) return "0.0";
  std::string text = format("%.6f", value);
  const size_t point = text.find('.');
  return text.substr(0, std::max<size_t>(6, point));
}

std::string cell(const std::optional<Errors>& errors) {
  if (!errors) return std::string(20, ' ');
  std::string out = format("%.5f", errors->cosine) + " | " + six(errors->euclidean);
  out.resize(std::max<size_t>(out.size(), 20), ' ');
  return out;
}

Json number(double value) { return Json(value); }

// The numbers behind the page, in JSON that cannot end the script element it stands in.
std::string page_data(const AccuracyReport& report) {
  std::string out = "[";
  for (const Layer& layer : report.layers) {
    out += out.size() > 1 ? ",\n" : "\n";
    out += str(
        "{\"name\":", write_json(Json(layer.name)), ",\"type\":", write_json(Json(layer.type)),
        ",\"float\":", layer.is_float ? "true" : "false",
        ",\"low\":", write_json(number(layer.low)), ",\"high\":", write_json(number(layer.high)),
        ",\"min\":", write_json(number(layer.seen_min)),
        ",\"max\":", write_json(number(layer.seen_max)),
        ",\"sat\":", write_json(number(layer.saturated)));
    const auto errors = [&](const char* key, const std::optional<Errors>& e) {
      if (!e) return;
      out += str(",\"", key, "\":[", write_json(number(e->cosine)), ",",
                 write_json(number(e->euclidean)), ",", write_json(number(e->max_abs)), ",",
                 write_json(number(e->sqnr_db)), "]");
    };
    errors("entire", layer.entire);
    errors("single", layer.single);
    out += ",\"bins\":[";
    for (size_t i = 0; i < layer.histogram.size(); ++i)
      out += str(i == 0 ? "" : ",", layer.histogram[i]);
    out += "]}";
  }
  out += "\n]";
  for (size_t at = 0; (at = out.find("</", at)) != std::string::npos;) out.replace(at, 2, "<\\/");
  return out;
}

constexpr std::string_view kPageHead =
    R"(<!doctype html><meta charset="utf-8"><title>Accuracy analysis</title>
<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:2px 8px;text-align:right}
td:first-child,th:first-child{text-align:left}tr:hover{background:#eef;cursor:pointer}svg{background:#fafafa}</style>
<h1>Accuracy analysis</h1><p>Cosine of each layer against the float model. Blue: accumulated (entire). Orange: the
layer alone, fed with golden inputs (single). Click a row for its distribution and the range int8 can hold.</p>
<svg id="plot" width="1000" height="220"></svg><h2 id="title"></h2><svg id="hist" width="1000" height="160"></svg>
)";

constexpr std::string_view kPageScript = R"js(
const svg=(id,s)=>document.getElementById(id).innerHTML=s;
const w=1000/Math.max(1,L.length),y=c=>210-200*Math.max(0,(c-0.9)/0.1);
let s='';L.forEach((l,i)=>{for(const [k,c] of [['entire','#36c'],['single','#e80']])if(l[k])
s+=`<circle cx="${(i+.5)*w}" cy="${y(l[k][0])}" r="3" fill="${c}" onclick="show(${i})"></circle>`;});
for(const c of [.9,.95,.98,1])s+=`<text x="2" y="${y(c)}" font-size="10">${c}</text>`;svg('plot',s);
function show(i){const l=L[i],m=Math.max(1,...l.bins.map(b=>Math.log1p(b))),span=(l.max-l.min)||1;let t='';
l.bins.forEach((b,k)=>{const h=140*Math.log1p(b)/m;t+=`<rect x="${k*1000/l.bins.length}" y="${150-h}" height="${h}"
 width="${900/l.bins.length}" fill="#9bd"/>`;});
if(!l.float)for(const v of [l.low,l.high]){const x=(v-l.min)/span*1000;
t+=`<line x1="${x}" x2="${x}" y1="0" y2="150" stroke="#c00"/>`;}svg('hist',t);
const n=v=>v===null?'not finite':v.toPrecision(5);
document.getElementById('title').textContent=`[${l.type}] ${l.name}: seen ${n(l.min)} .. ${n(l.max)}, `+
(l.float?'float16':`int8 holds ${n(l.low)} .. ${n(l.high)}`);}
const order=L.map((l,i)=>i).sort((a,b)=>(L[a].single?L[a].single[3]:999)-(L[b].single?L[b].single[3]:999));
const T=document.getElementById('layers');for(const i of order){const l=L[i],r=T.insertRow();r.onclick=()=>show(i);
const put=v=>{r.insertCell().textContent=v;},f=(e,k,d)=>e&&e[k]!==null?e[k].toFixed(d):'';
put(`[${l.type}] ${l.name}`);put(l.float?'float16':'int8');put(f(l.entire,0,5));put(f(l.single,0,5));
put(f(l.single,1,4));put(f(l.single,2,4));put(f(l.single,3,1));put((100*l.sat).toFixed(3));}
if(order.length)show(order[0]);
)js";

}  // namespace

std::string to_text(const AccuracyReport& report) {
  std::string out =
      "# simulator_error: the compiled model against the float model.\n"
      "# entire: error accumulated from the input. single: this layer fed with golden inputs.\n"
      "# cos: cosine, 1 is best. euc: Euclidean distance, 0 is best.\n\n";
  std::string head = "layer_name";
  head.resize(kNameColumns, ' ');
  const std::string blank(kNameColumns, ' ');
  out += head + "simulator_error\n" + blank + "entire              single\n" + blank +
         "cos       euc       cos       euc\n" + std::string(kNameColumns + 40, '-') + "\n";
  for (const Layer& layer : report.layers) {
    std::string name = str("[", layer.type, "] ", layer.name);
    name.resize(std::max<size_t>(name.size() + 2, kNameColumns), ' ');
    std::string row = name + cell(layer.entire) + cell(layer.single);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  for (const Layer& layer : report.layers) {
    if (layer.is_float && layer.saturated > 0) {
      out += str("# '", layer.name, "' exceeds the range of float16 (", layer.seen_min, " .. ",
                 layer.seen_max, ")\n");
    }
  }
  if (!report.proposals.empty()) out += "\n# what would help, measured on the worst output:\n";
  for (const Proposal& proposal : report.proposals) {
    out += str("#   ", proposal.text, ": cosine ", format("%.5f", proposal.cosine_before), " -> ",
               format("%.5f", proposal.cosine_after), "\n");
  }
  return out;
}

std::string to_html(const AccuracyReport& report) {
  std::string out(kPageHead);
  const auto escaped = [](std::string_view text) {
    std::string safe;
    for (const char c : text) {
      safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return safe;
  };
  if (!report.proposals.empty()) out += "<h2>What would help (measured)</h2><ul>\n";
  for (const Proposal& proposal : report.proposals) {
    out += str("<li>", escaped(proposal.text), ": cosine of the worst output ",
               format("%.5f", proposal.cosine_before), " &rarr; ",
               format("%.5f", proposal.cosine_after), "</li>\n");
  }
  if (!report.proposals.empty()) out += "</ul>\n";
  out +=
      "<h2>Layers, worst first</h2><table id=\"layers\"><tr><th>layer<th>type<th>entire "
      "cos<th>single cos<th>"
      "single euc<th>max abs<th>SQNR dB<th>saturated %</tr></table>\n<script>\nconst L=";
  out += page_data(report) + ";";
  out += kPageScript;
  return out + "</script>\n";
}

Status write_report(const AccuracyReport& report, const std::string& output_dir) {
  const std::filesystem::path folder = output_dir;
  const auto write = [&](const char* name, const std::string& text) {
    return write_file((folder / name).string(),
                      std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  };
  RK_TRY(write("error_analysis.txt", to_text(report)));
  return write("report.html", to_html(report));
}

}  // namespace rk::analysis
