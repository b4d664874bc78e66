"use strict";
// The page of a study: a plot of any response over any factor, and a table of all runs. Needs nothing from elsewhere.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
  const MARGIN = { left: 90, right: 20, top: 15, bottom: 55 };
  const ROWS_AT_ONCE = 200;
  const element = (id) => document.getElementById(id);
  const { factors, responses } = study;
  const { rows } = study; // [row, point, repetition, seed, level numbers..., responses..., key]
  const FIRST = 4;
  const levelOf = (row, factor) => row[FIRST + factor];
  const valueOf = (row, response) => row[FIRST + factors.length + response];
  const keyOf = (row) => row[FIRST + factors.length + responses.length];
  // A run that has found something may still lack a figure.
  const hasEnded = (row) => responses.some((_, place) => valueOf(row, place) !== null);
  // Numbers of levels that no run has had yet are not known.
  const numberOf = (row, factor) => factors[factor].numbers ? factors[factor].numbers[levelOf(row, factor)] : null;
  const textOf = (row, factor) => factors[factor].levels[levelOf(row, factor)];

  const short = (value) => {
    if (value === null || value === undefined) return "";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e7 || size < 1e-3) return value.toExponential(3).replace("e+", "e");
    return String(Number(value.toPrecision(6)));
  };

  // Quantities are in base units; people write and read them with prefixes.
  const PREFIXES = { p: 1e-12, n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
  const BASES = { s: 1, B: 1, "B/s": 1, "bit/s": 1 / 8, "flop/s": 1, Hz: 1 };
  const unitOf = (text) => {
    for (const base in BASES) for (const prefix in PREFIXES) {
      if (text === prefix + base) return { base, binary: prefix.endsWith("i"), factor: BASES[base] * PREFIXES[prefix] };
    }
    return null;
  };
  const quantity = (text) => {
    const found = text.trim().match(/^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\S*)$/i);
    if (!found) return null;
    const unit = found[2] ? unitOf(found[2]) : { base: "", factor: 1 };
    return unit && { value: Number(found[1]) * unit.factor, ...unit };
  };
  const withUnit = (value, unit) => {
    if (!unit?.base) return short(value);
    const size = Math.abs(value) / BASES[unit.base];
    const known = Object.entries(PREFIXES).filter(([prefix]) => prefix === "" || prefix.endsWith("i") === unit.binary);
    const usual = known.filter(([, factor]) => (unit.base === "s" ? factor <= 1 : factor >= 1)).sort((one, other) => one[1] - other[1]);
    const [prefix, factor] = usual.filter(([, factor]) => factor <= size * (1 + 1e-9)).pop() ?? usual[0];
    return `${Number((value / BASES[unit.base] / factor).toPrecision(4))} ${prefix}${unit.base}`;
  };
  const unitOfFactor = (factor) => factor.numbers && factor.levels.length ? quantity(factor.levels[0]) : null;
  const isTime = (name) => name === "seconds" || name.endsWith("_seconds");

  const option = (list, chosen) => list.map((name, place) =>
    `<option value="${place}"${place === chosen ? " selected" : ""}></option>`).join("");
  const fill = (id, names, chosen) => {
    const select = element(id);
    select.innerHTML = option(names, chosen);
    names.forEach((name, place) => { select.options[place].textContent = name; });
  };
  const names = factors.map((factor) => factor.name);
  fill("y", responses.map((response) => response.name), 0);
  fill("x", names, study.x);
  fill("colour", ["nothing", ...names], study.colour === null ? 0 : study.colour + 1);
  // What spans orders of magnitude is easier to see that way.
  const suitsLog = () => {
    const known = (factors[Number(element("x").value)].numbers ?? []).filter((number) => number !== null);
    const [low, high] = [known.reduce((one, other) => Math.min(one, other), Infinity), known.reduce((one, other) => Math.max(one, other), 0)];
    return known.length > 0 && low > 0 && high > 30 * low;
  };
  element("log-x").checked = suitsLog();

  // What is shown: all rows that meet the filter.
  const filterText = () => element("filter").value.trim();
  const meets = (row, words) => words.every((word) => {
    const found = word.match(/^([^<>=!]+)(<=|>=|!=|=|<|>)(.+)$/);
    if (!found) return names.some((_, factor) => textOf(row, factor).includes(word)) || keyOf(row).startsWith(word);
    const [, name, relation, value] = found;
    const factor = names.indexOf(name.trim());
    const response = responses.findIndex((one) => one.name === name.trim());
    if (factor < 0 && response < 0) return false;
    const text = factor >= 0 ? textOf(row, factor) : String(valueOf(row, response));
    const number = factor >= 0 ? numberOf(row, factor) : valueOf(row, response);
    const given = quantity(value);
    const own = factor >= 0 ? unitOfFactor(factors[factor])?.base : isTime(name.trim()) ? "s" : "";
    // A time is not compared with a size. Bits and bytes a second are one.
    const kind = (base) => (base === "bit/s" ? "B/s" : base);
    const fits = given && (!given.base || !own || kind(given.base) === kind(own));
    const wanted = fits ? given.value : NaN;
    if (relation === "=") return text === value.trim() || (number !== null && number === wanted);
    if (relation === "!=") return text !== value.trim() && number !== wanted;
    if (number === null || Number.isNaN(wanted)) return false;
    return relation === "<" ? number < wanted : relation === ">" ? number > wanted
      : relation === "<=" ? number <= wanted : number >= wanted;
  });
  const shown = () => {
    const words = filterText() ? filterText().split(/\s*,\s*|\s+and\s+/) : [];
    return words.length ? rows.filter((row) => meets(row, words)) : rows;
  };

  // The plot.
  const canvas = element("canvas");
  const brush = canvas.getContext("2d");
  let zoom = null; // { x: [from, to], y: [from, to] } in values, so that it stays where it is when rows come
  let drawn = []; // { px, py, row }
  let axes = null;
  let drag = null;

  const linear = (low, high) => ({
    at: (value) => (value - low) / (high - low || 1), value: (place) => low + place * (high - low),
    ticks: () => {
      const span = high - low || 1, raw = span / 6, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
      const list = [];
      for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) list.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
      return list;
    },
  });
  const logarithmic = (low, high) => {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const line = linear(from, to);
    return {
      at: (value) => line.at(Math.log10(value)), value: (place) => 10 ** line.value(place),
      ticks: () => {
        const list = [];
        for (let power = Math.floor(from); power <= Math.ceil(to); power += 1) {
          for (const factor of to - from > 3 ? [1] : [1, 2, 5]) {
            const tick = factor * 10 ** power;
            if (tick >= low * 0.999 && tick <= high * 1.001) list.push(tick);
          }
        }
        return list;
      },
    };
  };
  const scaleOf = (values, wantsLog, padding) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    if (!(low <= high)) { low = 0; high = 1; }
    if (wantsLog && low > 0) return low === high ? logarithmic(low / 2, high * 2) : logarithmic(low * 0.95, high * 1.05);
    const pad = (high - low || Math.abs(high) || 1) * padding;
    return linear(low - pad, high + pad);
  };
  const zoomed = (scale, range) => {
    if (!range) return scale;
    const [from, to] = range.map(scale.at);
    return { at: (value) => (scale.at(value) - from) / (to - from), value: (place) => scale.value(from + place * (to - from)),
      ticks: () => {
        const inside = scale.ticks().filter((tick) => scale.at(tick) >= from && scale.at(tick) <= to);
        return inside.length > 1 ? inside : linear(scale.value(from), scale.value(to)).ticks();
      } };
  };

  const means = (list, x, y, colour) => {
    const groups = new Map();
    for (const row of list) {
      const value = valueOf(row, y);
      if (value === null) continue;
      const key = `${colour < 0 ? 0 : levelOf(row, colour)} ${levelOf(row, x)}`;
      const group = groups.get(key) ?? { sum: 0, count: 0, colour: colour < 0 ? 0 : levelOf(row, colour), level: levelOf(row, x) };
      group.sum += value; group.count += 1;
      groups.set(key, group);
    }
    return [...groups.values()];
  };

  const draw = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio; canvas.height = height * ratio;
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    const [x, y, colour] = [Number(element("x").value), Number(element("y").value), Number(element("colour").value) - 1];
    const list = shown();
    const factor = factors[x];
    const place = (level) => factor.numbers ? factor.numbers[level] : level;
    const known = list.filter((row) => valueOf(row, y) !== null);
    const xScale = zoomed(scaleOf(known.map((row) => place(levelOf(row, x))), factor.numbers && element("log-x").checked, 0.06), zoom?.x);
    const yScale = zoomed(scaleOf(known.map((row) => valueOf(row, y)), element("log-y").checked, 0.06), zoom?.y);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const px = (value) => MARGIN.left + xScale.at(value) * inner.width;
    const py = (value) => MARGIN.top + (1 - yScale.at(value)) * inner.height;
    axes = { inner, x: xScale, y: yScale };
    const upUnit = isTime(responses[y].name) ? { base: "s", binary: false } : null;
    brush.font = "12px system-ui, sans-serif";
    brush.strokeStyle = "#d1d9e0"; brush.fillStyle = "#59636e"; brush.lineWidth = 1;
    brush.textAlign = "right"; brush.textBaseline = "middle";
    for (const tick of yScale.ticks()) {
      brush.beginPath(); brush.moveTo(MARGIN.left, py(tick)); brush.lineTo(width - MARGIN.right, py(tick)); brush.stroke();
      brush.fillText(withUnit(tick, upUnit), MARGIN.left - 8, py(tick));
    }
    brush.textAlign = "center"; brush.textBaseline = "top";
    const few = factor.levels.length <= 24 && !factor.continuous;
    const xTicks = few ? factor.levels.map((text, level) => [place(level), text]).filter(([value]) => value !== null) : xScale.ticks().map((tick) => [tick, withUnit(tick, unitOfFactor(factor))]);
    let last = -Infinity;
    for (const [value, text] of xTicks) {
      const at = px(value);
      if (at < MARGIN.left - 1 || at > width - MARGIN.right + 1) continue;
      const half = brush.measureText(text).width / 2;
      if (at - half < last + 6) continue;
      last = at + half;
      brush.fillText(text, at, height - MARGIN.bottom + 8);
    }
    brush.fillStyle = "#1b1f24";
    brush.fillText(factor.name, MARGIN.left + inner.width / 2, height - 22);
    brush.save(); brush.translate(14, MARGIN.top + inner.height / 2); brush.rotate(-Math.PI / 2);
    brush.fillText(responses[y].name, 0, 0); brush.restore();
    brush.save(); brush.beginPath(); brush.rect(MARGIN.left, MARGIN.top - 5, inner.width, inner.height + 10); brush.clip();
    drawn = [];
    // Levels have colours of their own; values of a range go from blue to red in their order.
    const isRange = colour >= 0 && factors[colour].continuous;
    const paint = (row) => isRange ? `hsl(${230 * (1 - levelOf(row, colour) / factors[colour].levels.length)} 80% 45%)`
      : COLOURS[(colour < 0 ? 0 : levelOf(row, colour)) % COLOURS.length];
    brush.globalAlpha = known.length > 500 ? 0.35 : 0.75;
    for (const row of known) {
      const at = [px(place(levelOf(row, x))), py(valueOf(row, y))];
      brush.fillStyle = paint(row);
      brush.beginPath(); brush.arc(at[0], at[1], known.length > 2000 ? 2 : 4, 0, 2 * Math.PI); brush.fill();
      drawn.push({ px: at[0], py: at[1], row });
    }
    brush.globalAlpha = 1;
    if (!factor.continuous && !isRange) {
      const lines = new Map();
      for (const group of means(known, x, y, colour)) {
        const line = lines.get(group.colour) ?? [];
        line.push([place(group.level), group.sum / group.count]); lines.set(group.colour, line);
      }
      for (const [number, points] of lines) {
        points.sort((one, other) => one[0] - other[0]);
        brush.strokeStyle = COLOURS[number % COLOURS.length]; brush.lineWidth = 2;
        brush.beginPath();
        points.forEach(([a, b], index) => index ? brush.lineTo(px(a), py(b)) : brush.moveTo(px(a), py(b)));
        brush.stroke();
      }
    }
    brush.restore();
    if (drag) {
      brush.fillStyle = "rgba(0, 114, 178, .15)";
      brush.fillRect(drag.from[0], drag.from[1], drag.to[0] - drag.from[0], drag.to[1] - drag.from[1]);
    }
    const legend = element("legend");
    legend.textContent = "";
    if (isRange && factors[colour].levels.length) {
      const { name, levels } = factors[colour];
      legend.textContent = `${name}: from blue (${levels[0]}) to red (${levels[levels.length - 1]})`;
    } else if (colour >= 0 && factors[colour].levels.length <= 24) {
      legend.textContent = `${factors[colour].name}: `;
      factors[colour].levels.forEach((text, level) => {
        const item = document.createElement("span");
        const mark = document.createElement("i");
        mark.style.background = COLOURS[level % COLOURS.length];
        item.append(mark, text); legend.append(item);
      });
    }
    element("count").textContent = `${list.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} runs`;
  };

  const placeOf = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("mousemove", (event) => {
    const at = placeOf(event);
    if (drag) { drag.to = at; draw(); return; }
    let nearest = null, best = 144;
    for (const mark of drawn) {
      const distance = (mark.px - at[0]) ** 2 + (mark.py - at[1]) ** 2;
      if (distance < best) { best = distance; nearest = mark; }
    }
    const hint = element("hint");
    hint.style.display = nearest ? "block" : "none";
    if (!nearest) return;
    hint.textContent = [...names.map((name, factor) => `${name}: ${textOf(nearest.row, factor)}`),
      ...responses.map((response, place) => {
        const value = valueOf(nearest.row, place);
        return `${response.name}: ${value !== null && isTime(response.name) ? withUnit(value, { base: "s", binary: false }) : short(value)}`;
      }),
      `row ${nearest.row[0]}, seed ${nearest.row[3]}`].join("\n");
    hint.style.left = `${Math.min(nearest.px + 12, canvas.clientWidth - 180)}px`;
    hint.style.top = `${nearest.py + 12}px`;
  });
  canvas.addEventListener("mouseleave", () => { element("hint").style.display = "none"; });
  canvas.addEventListener("mousedown", (event) => { drag = { from: placeOf(event), to: placeOf(event) }; });
  window.addEventListener("mouseup", () => {
    if (!drag) return;
    const { from, to } = drag;
    drag = null;
    if (Math.abs(from[0] - to[0]) > 8 && Math.abs(from[1] - to[1]) > 8) {
      const share = (value, start, size) => Math.min(1, Math.max(0, (value - start) / size));
      const xs = [from[0], to[0]].map((value) => share(value, MARGIN.left, axes.inner.width)).sort((a, b) => a - b);
      const ys = [from[1], to[1]].map((value) => 1 - share(value, MARGIN.top, axes.inner.height)).sort((a, b) => a - b);
      zoom = { x: xs.map(axes.x.value), y: ys.map(axes.y.value) };
    }
    draw();
  });
  element("whole").addEventListener("click", () => { zoom = null; draw(); });
  for (const id of ["x", "y", "colour", "log-x", "log-y"]) element(id).addEventListener("change", () => {
    zoom = null;
    if (id === "x") element("log-x").checked = suitsLog();
    draw();
  });

  // The table.
  let sort = { column: 0, rising: true };
  let most = ROWS_AT_ONCE;
  const columns = [
    { name: "row", value: (row) => row[0] },
    ...names.map((name, factor) => ({ name, text: true, value: (row) => numberOf(row, factor) ?? textOf(row, factor), show: (row) => textOf(row, factor) })),
    ...responses.map((response, place) => ({ name: response.name, value: (row) => valueOf(row, place), show: (row) => valueOf(row, place) !== null ? short(valueOf(row, place)) : hasEnded(row) ? "" : "failed" })),
    { name: "seed", value: (row) => row[3] },
    { name: "key", text: true, value: keyOf, link: study.live && ((row) => `${study.live.address}/run/${keyOf(row)}`) },
  ];
  const table = element("rows");
  const fillTable = () => {
    const { column, rising } = sort;
    const value = columns[column].value;
    const list = shown().slice().sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return (rising ? order : -order) || one[0] - other[0];
    });
    table.tHead.innerHTML = "<tr></tr>";
    columns.forEach((one, number) => {
      const cell = document.createElement("th");
      cell.dataset.column = number;
      if (one.text) cell.className = "text";
      cell.textContent = one.name + (number === column ? (rising ? " ▲" : " ▼") : "");
      table.tHead.rows[0].append(cell);
    });
    const body = document.createElement("tbody");
    for (const row of list.slice(0, most)) {
      const line = body.insertRow();
      for (const one of columns) {
        const cell = line.insertCell();
        if (one.text) cell.className = "text";
        const text = one.show ? one.show(row) : one.value(row);
        if (one.link) {
          const link = document.createElement("a");
          link.href = one.link(row);
          link.textContent = text;
          cell.append(link);
        } else cell.textContent = text;
      }
    }
    table.tBodies[0].replaceWith(body);
    element("more").style.display = list.length > most ? "" : "none";
    element("more").textContent = `show more of ${list.length.toLocaleString("en")}`;
  };
  table.addEventListener("click", (event) => {
    const column = event.target.dataset?.column;
    if (column === undefined) return;
    sort = { column: Number(column), rising: sort.column === Number(column) ? !sort.rising : true };
    fillTable();
  });
  // The tables of the analyses sort, too. Words, also such as `256 KiB`, go by their letters and the numbers in them.
  const isNumber = /^<?[+-]?[\d.]+(e[+-]?\d+)?( %| to .*)?$/;
  const compare = (one, other) => isNumber.test(one) && isNumber.test(other)
    ? Number.parseFloat(one.replace("<", "")) - Number.parseFloat(other.replace("<", "")) : one.localeCompare(other, "en", { numeric: true });
  element("analyses").addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!head) return;
    const [heads, ...lines] = head.closest("table").rows;
    const order = head.dataset.order === "rising" ? "falling" : "rising";
    for (const cell of heads.cells) delete cell.dataset.order;
    head.dataset.order = order;
    const sign = order === "rising" ? 1 : -1;
    const text = (line) => line.cells[head.cellIndex].textContent;
    lines.sort((one, other) => sign * compare(text(one), text(other)));
    heads.after(...lines);
  });
  element("more").addEventListener("click", () => { most += 5 * ROWS_AT_ONCE; fillTable(); });
  element("filter").addEventListener("input", () => { draw(); fillTable(); });
  window.addEventListener("resize", draw);
  draw();
  fillTable();

  // A page that is served follows its study: it asks for the rows that it has not got. Axes, filter and order stay.
  if (!study.live) return;
  const PAUSE = 1000;
  const { address, generation } = study.live;
  let { length } = study.live;
  const placeOfRow = new Map(rows.map((row, place) => [row[0], place]));
  // New rows have their levels in words and as numbers: [text, number].
  const admit = (fresh) => {
    for (const row of fresh) {
      factors.forEach((factor, place) => {
        const [text, number] = row[FIRST + place];
        let level = factor.levels.indexOf(text);
        if (level < 0) {
          level = factor.levels.push(text) - 1;
          factor.numbers?.push(number);
        } else if (factor.numbers && factor.numbers[level] === null) factor.numbers[level] = number;
        row[FIRST + place] = level;
      });
      if (placeOfRow.has(row[0])) rows[placeOfRow.get(row[0])] = row;
      else placeOfRow.set(row[0], rows.push(row) - 1);
    }
    factors.forEach((factor, place) => { if (factor.continuous) inOrder(factor, place); });
  };
  // Values of a range stand in rising order.
  const inOrder = (factor, place) => {
    const { levels, numbers } = factor;
    if (!numbers) return;
    const order = levels.map((_, level) => level).sort((one, other) => numbers[one] - numbers[other]);
    const now = [];
    order.forEach((level, at) => { now[level] = at; });
    factor.levels = order.map((level) => levels[level]);
    factor.numbers = order.map((level) => numbers[level]);
    for (const row of rows) row[FIRST + place] = now[row[FIRST + place]];
  };
  const look = async () => {
    const answer = await fetch(`${address}/news?generation=${generation}&length=${length}`).catch(() => null);
    if (!answer?.ok) {
      element("standing").textContent = "hpcast serve does not answer any more.";
      return;
    }
    const news = await answer.json();
    if (news.generation !== generation) { window.location.reload(); return; }
    element("standing").innerHTML = news.standing;
    if (news.length === length) return;
    length = news.length;
    admit(news.rows);
    element("ended").textContent = news.ended;
    document.querySelector(".answer").textContent = news.answer;
    element("analyses").innerHTML = news.analyses;
    draw(); fillTable();
  };
  const follow = async () => {
    // An answer that breaks off is not the last one.
    try { if (!document.hidden) await look(); } finally { setTimeout(follow, PAUSE); }
  };
  setTimeout(follow, PAUSE);
})();
