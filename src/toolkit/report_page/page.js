'use strict';
// The page of `rknn report`. REPORT.models holds one model, or two builds to compare; the fields are made by
// src/toolkit/report.cpp. Names come from model files: they reach the page as text nodes, never as markup.

const byId = id => document.getElementById(id);
const svgSpace = 'http://www.w3.org/2000/svg';

function element(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) out.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) out.setAttribute(name, value === true ? '' : value);
  }
  out.append(...children.filter(child => child !== null && child !== undefined));
  return out;
}

function drawn(tag, attributes) {
  const out = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  return out;
}

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const fixed = (value, digits) => Number.isFinite(value) ? value.toFixed(digits) : '';
function bytes(value) {
  if (value >= 1048576) return fixed(value / 1048576, 2) + ' MiB';
  return value >= 1024 ? fixed(value / 1024, 1) + ' KiB' : value + ' B';
}

// The state of the page: which model, which view, which step.
const page = {model: 0, view: 'Graph', step: -1, wanted: '', sort: {}, zoom: null};
const model = () => REPORT.models[page.model];

function prepare(one) {
  one.writer = new Map();
  one.steps.forEach((step, i) => step.out.forEach(tensor => one.writer.set(tensor, i)));
  one.readers = new Map();
  one.steps.forEach((step, i) => step.in.forEach(tensor => {
    if (!one.readers.has(tensor)) one.readers.set(tensor, []);
    one.readers.get(tensor).push(i);
  }));
  one.us = one.steps.reduce((sum, step) => sum + step.us, 0);
  one.errors = new Map((one.layers || []).map(layer => [layer.name, layer]));
  for (const step of one.steps) {
    step.layer = step.out.map(tensor => one.errors.get(one.tensors[tensor].name)).find(Boolean);
    step.text = `${step.type} ${step.name} ${step.out.map(t => one.tensors[t].name).join(' ')}`.toLowerCase();
  }
}

const matches = step => !page.wanted || step.text.includes(page.wanted);

// ---- graph -------------------------------------------------------------------------------------------------------

// Rows by the longest way from an input; within a row the place next to the first producer that is still free.
function layout(one) {
  if (one.places) return one.places;
  const places = [], taken = new Map();
  one.steps.forEach((step, i) => {
    const producers = step.in.map(t => one.writer.get(t)).filter(p => p !== undefined && p < i);
    const row = producers.length ? 1 + Math.max(...producers.map(p => places[p].row)) : 0;
    const wish = producers.length ? places[producers[0]].column : 0;
    if (!taken.has(row)) taken.set(row, new Set());
    const used = taken.get(row);
    let column = wish;
    for (let k = 0; used.has(column); k++) column = wish + (k % 2 ? -1 : 1) * Math.ceil((k + 1) / 2);
    used.add(column);
    places.push({row, column});
  });
  const least = Math.min(0, ...places.map(p => p.column));
  for (const place of places) { place.x = (place.column - least) * 190; place.y = place.row * 62; }
  one.places = places;
  return places;
}

const box = {w: 168, h: 40};

function showGraph(view) {
  const one = model(), places = layout(one);
  const canvas = element('canvas', {tabindex: 0, role: 'img',
    'aria-label': `Graph of ${one.steps.length} layers; the view Layers lists them`});
  view.append(element('p', {class: 'soft'}, 'Drag to move, wheel or + and - to zoom, click a layer. Edge color: ',
    element('span', {class: 'npu'}, 'NPU'), ', ', element('span', {class: 'cpu'}, 'CPU'), ', ',
    element('span', {class: 'gpu'}, 'GPU'), '. The bar below a layer is its share of the predicted time.'), canvas);
  const ratio = window.devicePixelRatio || 1;
  const height = Math.max(320, window.innerHeight - 260);
  const width = canvas.clientWidth || 900;
  canvas.style.height = height + 'px';
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  const right = Math.max(...places.map(p => p.x), 0) + box.w;
  if (!page.zoom) page.zoom = {scale: Math.min(1, Math.max(0.25, width / (right + 40))), x: 20, y: 20};
  if (page.zoom.x === 20 && right * page.zoom.scale < width) page.zoom.x = (width - right * page.zoom.scale) / 2;
  const worst = Math.max(1e-9, ...one.steps.map(step => step.us));

  function draw() {
    const {scale, x, y} = page.zoom;
    const colors = {NPU: style('--npu'), CPU: style('--cpu'), GPU: style('--gpu')};
    const ink = style('--ink'), line = style('--line'), paper = style('--paper'), panel = style('--panel');
    const accent = style('--accent');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = paper;
    context.fillRect(0, 0, width, height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    const top = -y / scale - 70, bottom = (height - y) / scale + 70;
    context.lineWidth = 1 / Math.max(scale, 0.5);
    context.strokeStyle = line;
    context.beginPath();
    one.steps.forEach((step, i) => {
      for (const tensor of step.in) {
        const from = one.writer.get(tensor);
        if (from === undefined || from >= i) continue;
        const a = places[from], b = places[i];
        if (Math.max(a.y, b.y) < top || Math.min(a.y, b.y) > bottom) continue;
        const x0 = a.x + box.w / 2, y0 = a.y + box.h, x1 = b.x + box.w / 2, y1 = b.y;
        context.moveTo(x0, y0);
        // Past layers between the two on the right, or nobody would see the edge.
        const far = b.row - a.row > 1 && a.column === b.column ? box.w / 2 + 60 : 0;
        context.bezierCurveTo(x0 + far, y0 + 20, x1 + far, y1 - 20, x1, y1);
      }
    });
    context.stroke();
    context.textBaseline = 'middle';
    one.steps.forEach((step, i) => {
      const {x: left, y: up} = places[i];
      if (up < top || up > bottom) return;
      context.globalAlpha = matches(step) ? 1 : 0.25;
      context.fillStyle = panel;
      context.fillRect(left, up, box.w, box.h);
      context.lineWidth = i === page.step ? 3 : 1.2;
      context.strokeStyle = i === page.step ? accent : colors[step.on] || ink;
      context.strokeRect(left, up, box.w, box.h);
      context.fillStyle = accent;
      context.fillRect(left, up + box.h - 4, box.w * step.us / worst, 4);
      if (scale > 0.35) {
        context.fillStyle = ink;
        context.font = '600 12px system-ui, sans-serif';
        context.fillText(step.type.slice(0, 22), left + 7, up + 12);
        context.font = '11px system-ui, sans-serif';
        const out = one.tensors[step.out[0]];
        context.fillText(out ? `${out.dtype} ${out.shape}`.slice(0, 27) : '', left + 7, up + 27);
      }
      context.globalAlpha = 1;
    });
  }

  function zoom(factor, px, py) {
    const z = page.zoom, scale = Math.min(4, Math.max(0.03, z.scale * factor));
    z.x = px - (px - z.x) * scale / z.scale;
    z.y = py - (py - z.y) * scale / z.scale;
    z.scale = scale;
    draw();
  }
  let drag = null;
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.offsetX, event.offsetY);
  }, {passive: false});
  canvas.addEventListener('pointerdown', event => {
    drag = {x: event.clientX, y: event.clientY, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (!drag.moved) return;
    page.zoom.x += dx;
    page.zoom.y += dy;
    drag.x = event.clientX;
    drag.y = event.clientY;
    draw();
  });
  canvas.addEventListener('pointerup', event => {
    const clicked = drag && !drag.moved;
    drag = null;
    if (!clicked) return;
    const x = (event.offsetX - page.zoom.x) / page.zoom.scale, y = (event.offsetY - page.zoom.y) / page.zoom.scale;
    select(places.findIndex(p => x >= p.x && x <= p.x + box.w && y >= p.y && y <= p.y + box.h));
  });
  view.redraw = draw;
  view.zoomBy = factor => zoom(factor, width / 2, height / 2);
  view.center = i => {
    const p = places[i], z = page.zoom, sx = p.x * z.scale + z.x, sy = p.y * z.scale + z.y;
    if (sx < 0 || sx > width - 60 || sy < 0 || sy > height - 40) {
      z.x = width / 2 - (p.x + box.w / 2) * z.scale;
      z.y = height / 2 - p.y * z.scale;
    }
    draw();
  };
  draw();
}

// ---- tables ------------------------------------------------------------------------------------------------------

// columns: [heading, value of a row, text of the value, is text]. Rows may say what is done when they are chosen.
function table(name, columns, rows, options = {}) {
  const state = page.sort[name] ||= {by: options.by ?? -1, up: options.up ?? false};
  const shown = rows.slice();
  if (state.by >= 0) {
    const value = columns[state.by][1];
    const order = (a, b) => typeof a === 'string' ? a.localeCompare(b) : (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b);
    shown.sort((a, b) => (state.up ? 1 : -1) * order(value(a), value(b)));
  }
  const head = element('tr', {}, ...columns.map(([heading, , , text], k) =>
    element('th', {class: text ? 'text' : undefined, scope: 'col',
      'aria-sort': state.by === k ? (state.up ? 'ascending' : 'descending') : 'none'},
    element('button', {type: 'button', onclick: () => {
      state.up = state.by === k ? !state.up : !!text;
      state.by = k;
      render();
    }}, heading))));
  const body = element('tbody');
  const line = row => element('tr', {'data-step': row.step, 'aria-selected': String(row.step === page.step && page.step >= 0)},
    ...columns.map(([, value, show, text]) => {
      const made = show ? show(row) : value(row);
      return element('td', {class: text ? 'text' : undefined}, made instanceof Node ? made : String(made));
    }));
  body.addEventListener('click', event => {
    const row = event.target.closest('tr');
    if (row && row.dataset.step !== undefined) select(Number(row.dataset.step));
  });
  // Rows come as they are scrolled to: a browser takes seconds for thousands at once.
  const chunk = 60, more = element('p', {class: 'soft'});
  let made = 0;
  const add = () => {
    body.append(...shown.slice(made, made + chunk).map(line));
    made = Math.min(shown.length, made + chunk);
    more.textContent = made < shown.length ? `${shown.length - made} more rows below` : '';
  };
  add();
  new IntersectionObserver(seen => { if (made < shown.length && seen.some(entry => entry.isIntersecting)) add(); })
    .observe(more);
  window.addEventListener('beforeprint', () => { while (made < shown.length) add(); });
  return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, head), body), more);
}

function bar(share) {
  const out = element('span', {class: 'bar'});
  out.style.width = Math.round(90 * Math.min(1, Math.max(0, share))) + 'px';
  return out;
}

const grade = cosine => cosine >= 0.99 ? 'good' : cosine >= 0.95 ? 'warn' : 'bad';
const graded = value => element('span', {class: Number.isFinite(value) ? grade(value) : ''}, fixed(value, 5));
const errorOf = (step, kind, k) => {
  const errors = step.layer && step.layer[kind];
  return errors && errors[k] !== null ? errors[k] : NaN;
};

function showLayers(view) {
  const one = model(), worst = Math.max(1e-9, ...one.steps.map(step => step.us));
  const rows = one.steps.map((step, i) => ({...step, step: i})).filter(matches);
  const columns = [
    ['No.', row => row.step],
    ['Layer', row => row.name, row => `${row.type}  ${row.name}`, true],
    ['On', row => row.on, row => element('span', {class: row.on.toLowerCase()}, row.on), true],
    ['Time us', row => row.us, row => fixed(row.us, 1)],
    ['Share', row => row.us, row => bar(row.us / worst)],
    ['NPU cycles', row => row.npu], ['DDR cycles', row => row.ddr],
    ['Traffic', row => row.read + row.written, row => bytes(row.read + row.written)],
    ['MAC use %', row => row.usage, row => row.usage ? fixed(100 * row.usage, 1) : ''],
    ['Bound', row => row.bound, row => row.bound, true],
    ['Weights', row => row.weights, row => row.weights ? bytes(row.weights) : ''],
  ];
  if (one.layers) {
    columns.push(['Single cosine', row => errorOf(row, 'single', 0), row => graded(errorOf(row, 'single', 0))],
      ['Single SQNR dB', row => errorOf(row, 'single', 3), row => fixed(errorOf(row, 'single', 3), 1)],
      ['Entire cosine', row => errorOf(row, 'entire', 0), row => graded(errorOf(row, 'entire', 0))]);
    if (one.layers.some(layer => layer.board))
      columns.push(['Board cosine', row => errorOf(row, 'board', 0), row => graded(errorOf(row, 'board', 0))]);
  }
  view.append(element('p', {class: 'soft'}, `${rows.length} of ${one.steps.length} layers, ` +
    `${fixed(one.us / 1000, 3)} ms predicted. A heading sorts.`), table('layers', columns, rows));
}

function showTypes(view) {
  const one = model(), groups = new Map();
  for (const step of one.steps) {
    const key = `${step.type} ${step.on}`;
    if (!groups.has(key)) groups.set(key, {type: step.type, on: step.on, count: 0, us: 0, traffic: 0, macs: 0});
    const group = groups.get(key);
    group.count++;
    group.us += step.us;
    group.traffic += step.read + step.written;
    group.macs += step.macs;
  }
  view.append(table('types', [
    ['Type', row => row.type, null, true], ['On', row => row.on, null, true], ['Layers', row => row.count],
    ['Time us', row => row.us, row => fixed(row.us, 1)],
    ['Share', row => row.us, row => bar(row.us / Math.max(1e-9, one.us))],
    ['Traffic', row => row.traffic, row => bytes(row.traffic)],
    ['MACs', row => row.macs, row => row.macs.toLocaleString('en')]], [...groups.values()], {by: 3}));
}

// ---- memory ------------------------------------------------------------------------------------------------------

function showMemory(view) {
  const one = model(), steps = one.steps.length;
  const lives = new Map();
  const see = (tensor, i) => {
    const life = lives.get(tensor);
    if (life) { life.first = Math.min(life.first, i); life.last = Math.max(life.last, i); }
    else lives.set(tensor, {first: i, last: i});
  };
  one.steps.forEach((step, i) => { step.in.forEach(t => see(t, i)); step.out.forEach(t => see(t, i)); });
  const rows = [...lives].map(([tensor, life]) => ({...one.tensors[tensor], ...life, tensor}))
    .filter(row => row.kind !== 'constant');
  const canvas = element('canvas', {role: 'img', 'aria-label': 'Arena over the steps; the table below lists the tensors'});
  view.append(element('h2', {}, 'Arena over time'), element('p', {class: 'soft'},
    `From left to right the ${steps} layers as they run, from top to bottom ${bytes(one.arena)} of internal memory.`),
  canvas);
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 900, height = 360;
  canvas.style.height = height + 'px';
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  const highest = Math.max(one.arena, 1, ...rows.map(row => row.offset + row.size));
  const place = row => [row.first / steps * width, row.offset / highest * height,
    (row.last - row.first + 1) / steps * width, Math.max(1, row.size / highest * height)];
  function draw() {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = style('--paper');
    context.fillRect(0, 0, width, height);
    const chosen = page.step >= 0 ? new Set([...one.steps[page.step].in, ...one.steps[page.step].out]) : new Set();
    rows.forEach((row, k) => {
      const [x, y, w, h] = place(row);
      context.globalAlpha = 0.75;
      context.fillStyle = chosen.has(row.tensor) ? style('--bad') : `hsl(${k * 47 % 360} 45% 55%)`;
      context.fillRect(x, y, w, h);
      context.globalAlpha = 1;
      context.strokeStyle = style('--paper');
      context.strokeRect(x, y, w, h);
    });
  }
  canvas.addEventListener('click', event => {
    const hit = rows.findLast(row => {
      const [x, y, w, h] = place(row);
      return event.offsetX >= x && event.offsetX <= x + w && event.offsetY >= y && event.offsetY <= y + h;
    });
    if (hit) select(one.writer.get(hit.tensor) ?? hit.first);
  });
  view.redraw = draw;
  draw();
  view.append(element('h2', {}, 'Tensors'), table('tensors', [
    ['Tensor', row => row.name, null, true], ['Kind', row => row.kind, null, true], ['Type', row => row.dtype, null, true],
    ['Shape', row => row.shape, null, true], ['Bytes', row => row.size, row => bytes(row.size)],
    ['Offset', row => row.offset, row => '0x' + row.offset.toString(16)], ['First', row => row.first],
    ['Last', row => row.last]],
  rows.filter(row => !page.wanted || row.name.toLowerCase().includes(page.wanted))
    .map(row => ({...row, step: one.writer.get(row.tensor)})), {by: 4}));
}

function showWeights(view) {
  const one = model(), rows = [];
  one.steps.forEach((step, i) => step.in.forEach(tensor => {
    const constant = one.tensors[tensor];
    if (constant.kind === 'constant') rows.push({...constant, layer: step.name, step: i});
  }));
  const all = rows.reduce((sum, row) => sum + row.size, 0);
  view.append(element('p', {class: 'soft'}, `${rows.length} constants; the chip holds ${bytes(one.memory.weights)}.`),
    table('weights', [
      ['Constant', row => row.name, null, true], ['Layer', row => row.layer, null, true],
      ['Type', row => row.dtype, null, true], ['Shape', row => row.shape, null, true],
      ['Bytes', row => row.size, row => bytes(row.size)], ['Share', row => row.size, row => bar(row.size / Math.max(1, all))]],
    rows.filter(row => !page.wanted || `${row.name} ${row.layer}`.toLowerCase().includes(page.wanted)), {by: 4}));
}

// ---- accuracy ----------------------------------------------------------------------------------------------------

function histogram(layer) {
  const width = 320, height = 120, svg = drawn('svg', {viewBox: `0 0 ${width} ${height + 18}`, role: 'img'});
  const title = drawn('title', {});
  title.textContent = `Distribution of ${layer.name}: float filled, as stored in outline`;
  svg.append(title);
  const low = layer.float ? layer.min : Math.min(layer.min, layer.low);
  const high = layer.float ? layer.max : Math.max(layer.max, layer.high);
  const span = high - low || 1, x = value => (value - low) / span * width;
  const most = Math.max(1, ...layer.bins.map(Math.log1p), ...(layer.stored || []).map(Math.log1p));
  const step = (layer.max - layer.min) / Math.max(1, layer.bins.length);
  const path = bins => {
    let out = `M${x(layer.min)} ${height}`;
    bins.forEach((count, k) => {
      const y = height - (height - 6) * Math.log1p(count) / most;
      out += `L${x(layer.min + k * step)} ${y}L${x(layer.min + (k + 1) * step)} ${y}`;
    });
    return `${out}L${x(layer.max)} ${height}Z`;
  };
  svg.append(drawn('path', {d: path(layer.bins), fill: style('--accent'), 'fill-opacity': 0.35}));
  if (layer.stored && layer.stored.length)
    svg.append(drawn('path', {d: path(layer.stored), fill: 'none', stroke: style('--bad'), 'stroke-width': 1}));
  if (!layer.float) {
    for (const limit of [layer.low, layer.high])
      svg.append(drawn('line', {x1: x(limit), x2: x(limit), y1: 0, y2: height, stroke: style('--warn'), 'stroke-dasharray': '4 3'}));
  }
  for (const [value, anchor, at] of [[low, 'start', 0], [high, 'end', width]]) {
    const text = drawn('text', {x: at, y: height + 14, 'text-anchor': anchor, 'font-size': 11, fill: style('--soft')});
    text.textContent = value.toPrecision(4);
    svg.append(text);
  }
  return svg;
}

// The range of each channel beside what the type can hold.
function channels(layer) {
  if (!layer.channels || layer.channels.length < 2) return null;
  const width = 320, height = 110, svg = drawn('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  const title = drawn('title', {});
  title.textContent = `Range of each of ${layer.channels.length} channels of ${layer.name}`;
  svg.append(title);
  const low = Math.min(...layer.channels.map(c => c[0])), high = Math.max(...layer.channels.map(c => c[1]));
  const y = value => height - (value - low) / (high - low || 1) * height, w = width / layer.channels.length;
  layer.channels.forEach(([from, to], k) => svg.append(drawn('rect', {x: k * w, y: y(to), width: Math.max(0.6, w - 0.6),
    height: Math.max(1, y(from) - y(to)), fill: style('--accent')})));
  return svg;
}

function showAccuracy(view) {
  const one = model(), width = 1000, height = 220;
  const svg = drawn('svg', {viewBox: `0 0 ${width} ${height + 10}`, role: 'img'});
  const title = drawn('title', {});
  title.textContent = 'Cosine of each layer against the float model';
  svg.append(title);
  const all = one.layers.flatMap(l => [l.entire, l.single]).filter(e => e && e[0] !== null).map(e => e[0]);
  const floor = Math.max(-1, Math.min(0.95, ...all) - 0.01), y = c => height - (height - 10) * (c - floor) / (1 - floor);
  for (let k = 0; k <= 4; k++) {
    const c = floor + (1 - floor) * k / 4;
    svg.append(drawn('line', {x1: 40, x2: width, y1: y(c), y2: y(c), stroke: style('--line')}));
    const text = drawn('text', {x: 0, y: y(c) + 4, 'font-size': 11, fill: style('--soft')});
    text.textContent = c.toFixed(3);
    svg.append(text);
  }
  const stepOf = new Map();
  one.steps.forEach((step, i) => { if (step.layer) stepOf.set(step.layer, i); });
  one.layers.forEach((layer, i) => {
    for (const [kind, color] of [['entire', '--accent'], ['single', '--warn']]) {
      if (!layer[kind] || layer[kind][0] === null) continue;
      const dot = drawn('circle', {cx: 44 + (i + 0.5) * (width - 48) / one.layers.length, cy: y(layer[kind][0]), r: 3.5,
        fill: style(color)});
      const about = drawn('title', {});
      about.textContent = `${layer.type} ${layer.name} (${kind}): ${layer[kind][0].toFixed(5)}`;
      dot.append(about);
      dot.addEventListener('click', () => stepOf.has(layer) ? select(stepOf.get(layer)) : undefined);
      svg.append(dot);
    }
  });
  view.append(element('h2', {}, 'Cosine of each layer against the float model'),
    element('p', {class: 'soft'}, 'Blue: accumulated (entire). Yellow: the layer alone, fed with golden inputs (single). ' +
      'The remedy belongs where yellow is low.'), svg);
  const rows = one.layers.map(layer => ({...layer, step: stepOf.get(layer), layer}))
    .filter(row => !page.wanted || `${row.type} ${row.name}`.toLowerCase().includes(page.wanted));
  view.append(element('h2', {}, 'Layers, worst first'), table('errors', [
    ['Layer', row => row.name, row => `${row.type}  ${row.name}`, true],
    ['Type', row => row.float ? 'float16' : 'int8', null, true],
    ['Single SQNR dB', row => errorOf(row, 'single', 3), row => fixed(errorOf(row, 'single', 3), 1)],
    ['Single cosine', row => errorOf(row, 'single', 0), row => graded(errorOf(row, 'single', 0))],
    ['Single max abs', row => errorOf(row, 'single', 2), row => fixed(errorOf(row, 'single', 2), 4)],
    ['Entire cosine', row => errorOf(row, 'entire', 0), row => graded(errorOf(row, 'entire', 0))],
    ['Saturated %', row => row.saturated, row => fixed(100 * row.saturated, 3)]], rows, {by: 2, up: true}));
}

function showAdvice(view) {
  const one = model();
  if (one.proposals && one.proposals.length) {
    view.append(element('h2', {}, 'What would help the results, measured'));
    for (const proposal of one.proposals) {
      view.append(element('p', {}, `${proposal.text}: cosine of the worst output `, graded(proposal.before), ' → ',
        graded(proposal.after)));
      if (proposal.code) {
        const copy = element('button', {type: 'button', onclick: () => navigator.clipboard.writeText(proposal.code)}, 'Copy');
        view.append(element('pre', {}, proposal.code), copy);
      }
    }
  }
  if (one.findings && one.findings.length)
    view.append(element('h2', {}, 'What was found'), element('ul', {}, ...one.findings.map(text => element('li', {}, text))));
  view.append(element('h2', {}, 'What would make it faster on the chip, predicted'));
  if (!one.advice.length) view.append(element('p', {}, 'Nothing that the cost model knows of.'));
  else view.append(table('advice', [['Layer', row => row.layer, null, true], ['Advice', row => row.text, null, true],
    ['Gain us', row => row.us, row => fixed(row.us, 1)]], one.advice, {by: 2}));
}

// ---- two builds --------------------------------------------------------------------------------------------------

function showCompare(view) {
  const [a, b] = REPORT.models;
  const facts = [['Predicted time ms', a.us / 1000, b.us / 1000, 3], ['Weights MiB', a.memory.weights / 1048576, b.memory.weights / 1048576, 2],
    ['Internal memory MiB', a.memory.internal / 1048576, b.memory.internal / 1048576, 2], ['Layers', a.steps.length, b.steps.length, 0],
    ['On the CPU', ...[a, b].map(one => one.steps.filter(s => s.on === 'CPU').length), 0],
    ['Worst output cosine', a.cosine ?? NaN, b.cosine ?? NaN, 5]];
  view.append(element('h2', {}, 'Two builds'), table('facts', [['Figure', row => row[0], null, true],
    [a.name, row => row[1], row => fixed(row[1], row[3])], [b.name, row => row[2], row => fixed(row[2], row[3])],
    ['Change', row => row[2] - row[1], row => fixed(row[2] - row[1], row[3])]], facts));
  const key = (one, step) => one.tensors[step.out[0]] ? one.tensors[step.out[0]].name : step.name;
  const other = new Map(b.steps.map(step => [key(b, step), step]));
  const rows = a.steps.map((step, i) => ({name: key(a, step), a: step, b: other.get(key(a, step)), step: i}));
  const known = new Set(rows.map(row => row.name));
  for (const step of b.steps) if (!known.has(key(b, step))) rows.push({name: key(b, step), a: undefined, b: step});
  const type = step => step ? `${step.type} on ${step.on}` : 'absent';
  const us = step => step ? step.us : 0;
  view.append(element('h2', {}, 'Layers by the value they compute'), table('pairs', [
    ['Value', row => row.name, null, true], [a.name, row => type(row.a), null, true], [b.name, row => type(row.b), null, true],
    ['us', row => us(row.a), row => fixed(us(row.a), 1)], ['us ', row => us(row.b), row => fixed(us(row.b), 1)],
    ['Change us', row => Math.abs(us(row.b) - us(row.a)), row => fixed(us(row.b) - us(row.a), 1)],
    ['SQNR dB', row => row.a ? errorOf(row.a, 'single', 3) : NaN, row => row.a ? fixed(errorOf(row.a, 'single', 3), 1) : ''],
    ['SQNR dB ', row => row.b ? errorOf(row.b, 'single', 3) : NaN, row => row.b ? fixed(errorOf(row.b, 'single', 3), 1) : '']],
  rows.filter(row => !page.wanted || row.name.toLowerCase().includes(page.wanted)), {by: 5}));
}

// ---- the page ----------------------------------------------------------------------------------------------------

const views = {Graph: showGraph, Layers: showLayers, Types: showTypes, Memory: showMemory, Weights: showWeights};
function shownViews() {
  const out = {...views};
  if (model().layers) out.Accuracy = showAccuracy;
  out.Advice = showAdvice;
  if (REPORT.models.length > 1) out.Compare = showCompare;
  return out;
}

function showDetails() {
  const one = model(), panel = byId('details');
  panel.replaceChildren();
  const step = one.steps[page.step];
  if (!step) return;
  const facts = [['Runs on', step.on], ['Time', `${fixed(step.us, 1)} us (${fixed(100 * step.us / Math.max(1e-9, one.us), 1)} %)`],
    ['Cycles', `NPU ${step.npu}, DDR ${step.ddr}`], ['Traffic', `${bytes(step.read)} in, ${bytes(step.written)} out`],
    ['MACs', step.macs.toLocaleString('en')], ['Bound by', step.bound]];
  const tensor = t => {
    const x = one.tensors[t];
    return `${x.name}: ${x.dtype} ${x.shape}${x.scale ? `, scale ${x.scale.toPrecision(4)}, zero point ${x.zero}` : ''}`;
  };
  step.in.forEach((t, i) => facts.push([`Input ${i}`, tensor(t)]));
  step.out.forEach((t, i) => facts.push([`Output ${i}`, tensor(t)]));
  panel.append(element('h2', {}, `${step.type}`), element('p', {class: 'soft'}, step.name),
    element('dl', {class: 'facts'}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])));
  if (!step.layer) return;
  const layer = step.layer;
  panel.append(element('h2', {}, 'Values'), histogram(layer), element('p', {class: 'soft'},
    layer.float ? `float16 holds ${layer.min.toPrecision(4)} to ${layer.max.toPrecision(4)}` :
      `filled: float; outline: as stored; dashed: what int8 holds. ${fixed(100 * layer.saturated, 3)} % saturate`));
  const ranges = channels(layer);
  if (ranges) panel.append(element('h2', {}, 'Channels'), ranges);
}

function select(step) {
  page.step = step;
  showDetails();
  const view = byId('view');
  if (view.redraw) view.redraw();
  for (const row of view.querySelectorAll('tr[data-step]'))
    row.setAttribute('aria-selected', String(Number(row.dataset.step) === step));
}

function render() {
  const all = shownViews(), view = byId('view'), tabs = byId('tabs');
  if (!all[page.view]) page.view = 'Graph';
  tabs.replaceChildren(...Object.keys(all).map(name => element('button', {type: 'button', role: 'tab',
    'aria-selected': String(name === page.view), onclick: () => { page.view = name; render(); }}, name)));
  view.replaceChildren();
  view.redraw = view.zoomBy = view.center = null;
  view.setAttribute('aria-label', page.view);
  all[page.view](view);
  showDetails();
}

function showHead() {
  const one = model();
  byId('title').textContent = REPORT.models.map(m => m.name).join(' beside ');
  document.title = byId('title').textContent;
  byId('verdict').textContent = one.verdict;
  byId('verdict').className = one.grade;
  byId('about').replaceChildren(...one.about.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function begin() {
  REPORT.models.forEach(prepare);
  const choice = byId('model');
  REPORT.models.forEach((one, i) => choice.append(element('option', {value: i}, one.name)));
  choice.parentElement.hidden = REPORT.models.length < 2;
  choice.addEventListener('change', () => {
    page.model = Number(choice.value);
    page.step = -1;
    page.zoom = null;
    showHead();
    render();
  });
  const search = byId('search');
  search.addEventListener('input', () => { page.wanted = search.value.trim().toLowerCase(); render(); });
  const dark = on => { document.documentElement.classList.toggle('dark', on); render(); };
  byId('dark').addEventListener('click', () => dark(!document.documentElement.classList.contains('dark')));
  byId('print').addEventListener('click', () => window.print());
  window.addEventListener('resize', render);
  document.addEventListener('keydown', event => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const names = Object.keys(shownViews()), steps = model().steps.length, view = byId('view');
    if (/^[1-9]$/.test(event.key) && names[event.key - 1]) { page.view = names[event.key - 1]; render(); }
    else if (event.key === '/') { event.preventDefault(); search.focus(); }
    else if (event.key === 'Escape') select(-1);
    else if ((event.key === '+' || event.key === '-') && view.zoomBy) view.zoomBy(event.key === '+' ? 1.25 : 0.8);
    else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && steps) {
      event.preventDefault();
      select(Math.min(steps - 1, Math.max(0, page.step + (event.key === 'ArrowDown' ? 1 : -1))));
      if (view.center) view.center(page.step);
    }
  });
  showHead();
  if (window.matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
  render();
}

begin();
