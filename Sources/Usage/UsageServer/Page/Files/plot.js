// A window's percentages over a week as a picture that can be moved and stretched, and as a table.

import { isOld } from './cards.js';
import { count, h, s, setText } from './dom.js';
import { options } from './state.js';
import { day, hour, weekday } from './times.js';

const [width, height] = [600, 140];
const week = 7 * day;

/** A percentage of what was used, by the measure that was chosen. */
const measured = (percent) => options.measure === 'left' ? Math.max(0, 100 - percent) : percent;
const text = (percent) => `${Math.round(measured(percent))} %`;
const y = (percent) => height - Math.min(Math.max(measured(percent), 0), 100) / 100 * height;

/** How long a plot may show another time as now. */
const precision = 300_000;
/** Fewer samples are said in a line. */
const plottedSamples = 5;

/** "now 43 % used", "43 % used 2 d ago". */
function lastValue({ label, samples, resets }, card, times) {
  const [time, percent] = samples.at(-1);
  const row = card.rows.find((row) => row.label === label);
  const gauge = row && times.value(row.content).gauge;
  // A card may no longer have the limit.
  if (row ? !gauge : resets.at(-1) === time) return 'reset since, no newer data';
  const amount = `${text(percent)} ${options.measure}`;
  return !gauge || gauge.isOld || isOld(card, times) ? `${amount} ${times.past(time)}` : `now ${amount}`;
}

export function drawPlot(figure, series, card, times) {
  const present = Math.ceil(times.now / hour) * hour;
  // What is expected until the reset is seen too, of a window of a month the beginning.
  const end = Math.max(present, Math.min(series.forecast.at(-1)?.[0] ?? 0, present + week / 2));
  const last = lastValue(series, card, times);
  const shown = `${options.measure} ${end} ${Math.floor(times.now / precision)} ${last}`;
  if (figure.shown === shown && figure.series === series) return;
  figure.view ??= { start: present - week, end };
  // A view of the present stays one.
  if (figure.view.end === figure.end) figure.view = { start: figure.view.start + end - figure.end, end };
  Object.assign(figure, { shown, series, times, week: present - week, end });
  figure.parts ??= create(figure);
  const known = series.samples.filter((sample) => sample.length === 2);
  const { title, note, picture, days } = figure.parts;
  const isFew = known.length < plottedSamples;
  figure.classList.toggle('few', isFew);
  setText(title, isFew ? series.label : `${series.label}, 7 days`);
  if (isFew) return setText(note, `${last} · too few readings for a plot`);
  const most = text(Math.max(...known.map(([, percent]) => percent)));
  const reached = ['never reached', 'reached once'][series.reached.length] ?? `reached ${series.reached.length} times`;
  const summary = `${last}, at ${options.measure === 'left' ? 'least' : 'most'} ${most}`
    + `, ${count(series.resets.length, 'reset')}, limit ${reached}`;
  setText(note, summary);
  picture.setAttribute('aria-label', `${series.label}, 7 days: ${summary}. Arrow keys move, plus and minus stretch.`);
  days.replaceChildren(...tableRows(known));
  draw(figure);
}

/** The parts of a figure, which stay: with the focus, and open or closed. */
function create(figure) {
  const [title, note, value] = [h('h3'), h('p', { class: 'muted' }), h('p', { class: 'muted', 'aria-hidden': 'true' })];
  const picture = s('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', tabindex: 0, role: 'img' });
  const [scale, days] = [h('div', { class: 'scale', 'aria-hidden': 'true' }), h('table')];
  figure.replaceChildren(h('figcaption', {}, title, note, value), picture, scale,
    h('details', {}, h('summary', { text: 'As a table' }), days));
  control(figure, picture, (time) => setText(value, time ? valueAt(figure, time) : ''));
  return { title, note, picture, scale, days };
}

/** "43 % used, Tue 14:00" at a time of the plot. */
function valueAt({ series, times }, time) {
  const sample = series.samples.findLast(([start]) => start <= time);
  const isPast = time <= times.now;
  const percent = isPast ? sample?.[1] : expected(series.forecast, time);
  return `${times.clock(time)}: ${percent === undefined ? 'nothing observed' : `${isPast ? '' : 'about '}${text(percent)} ${options.measure}`}`;
}

/** The percentage of a forecast at a time; undefined outside of it. */
function expected(forecast, time) {
  const index = forecast.findIndex(([end]) => end >= time);
  if (index < 1) return undefined;
  const [[start, from], [end, to]] = [forecast[index - 1], forecast[index]];
  return end > start ? from + (to - from) * (time - start) / (end - start) : to;
}

function draw({ series, times: { now }, parts: { picture, scale }, view: { start, end } }) {
  const x = (time) => (time - start) / (end - start) * width;
  let path = '';
  let isDrawing = false;
  for (const [time, percent] of series.samples) {
    if (percent === undefined) isDrawing = false;
    else {
      // A value holds until the next one.
      path += isDrawing ? `H${x(time).toFixed(1)}V${y(percent).toFixed(1)}` : `M${x(time).toFixed(1)} ${y(percent).toFixed(1)}h1`;
      isDrawing = true;
    }
  }
  const days = [];
  const first = new Date(start);
  for (let time = new Date(first.getFullYear(), first.getMonth(), first.getDate() + 1); time < end;
    time.setDate(time.getDate() + 1)) days.push(time.getTime());
  picture.replaceChildren(
    ...[50, 75, 90].map((percent) => s('line', { class: 'threshold', x1: 0, x2: width, y1: y(percent), y2: y(percent) })),
    ...days.map((time) => s('line', { class: 'day', x1: x(time), x2: x(time), y1: 0, y2: height })),
    ...series.resets.map((time) => s('line', { class: 'reset', x1: x(time), x2: x(time), y1: 0, y2: height })),
    s('path', { class: 'curve', d: path }),
    s('path', { class: 'forecast', d: series.forecast.map(([time, percent], index) => `${index === 0 ? 'M' : 'L'}${x(time).toFixed(1)} ${y(percent).toFixed(1)}`).join('') }),
    s('line', { class: 'now', x1: x(now), x2: x(now), y1: 0, y2: height }),
    ...series.reached.map((time) => s('line', { class: 'reached', x1: x(time), x2: x(time), y1: 0, y2: 12 })));
  scale.replaceChildren(...days.map((time, index) => {
    const label = h('span', { text: weekday(time) });
    label.style.insetInlineStart = `${x(time) / width * 100}%`;
    label.style.inlineSize = `${(x(days[index + 1] ?? end) - x(time)) / width * 100}%`;
    return label;
  }));
}

/** Moves and stretches the view by pointers, wheel and keys. */
function control(figure, picture, point) {
  const set = (start, length) => {
    length = Math.min(Math.max(length, 6 * hour), figure.end - figure.week);
    start = Math.min(Math.max(start, figure.week), figure.end - length);
    figure.view = { start, end: start + length };
    draw(figure);
  };
  const length = () => figure.view.end - figure.view.start;
  const stretch = (factor, at = 0.5) => {
    const middle = figure.view.start + length() * at;
    set(middle - length() * factor * at, length() * factor);
  };
  const move = (part) => set(figure.view.start + length() * part, length());
  picture.addEventListener('keydown', (event) => {
    const action = {
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '+': () => stretch(0.7), '-': () => stretch(1.4),
      Home: () => set(figure.week, figure.end - figure.week), End: () => set(figure.end - length(), length()),
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  picture.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    stretch(event.deltaY > 0 ? 1.2 : 0.8, event.offsetX / picture.clientWidth);
  }, { passive: false });
  const pointers = new Map();
  picture.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, event.clientX);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener('pointermove', (event) => {
    point(figure.view.start + length() * event.offsetX / picture.clientWidth);
    const former = pointers.get(event.pointerId);
    if (former === undefined) return;
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.set(event.pointerId, event.clientX);
    if (others.length === 0) return move((former - event.clientX) / picture.clientWidth);
    const [before, after] = [Math.abs(former - others[0]), Math.abs(event.clientX - others[0])];
    if (before > 8 && after > 8) stretch(before / after);
  });
  picture.addEventListener('pointerleave', () => point());
  for (const name of ['pointerup', 'pointercancel']) {
    picture.addEventListener(name, ({ pointerId }) => pointers.delete(pointerId));
  }
}

/** A head, and a row for each day. */
function tableRows(known) {
  const days = new Map();
  for (const [time, percent] of known) {
    const name = new Date(time).toDateString();
    const [, most = 0] = days.get(name) ?? [];
    days.set(name, [percent, Math.max(most, percent)]);
  }
  return [
    h('thead', {}, h('tr', {}, ...['Day', `Last, ${options.measure}`, options.measure === 'left' ? 'Least' : 'Most']
      .map((title) => h('th', { scope: 'col', text: title })))),
    h('tbody', {}, ...[...days].reverse().map(([name, percents]) => h('tr', {},
      h('th', { scope: 'row', text: name }),
      ...percents.map((percent) => h('td', { class: 'number', text: text(percent) }))))),
  ];
}
