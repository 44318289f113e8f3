// What all accounts cost: in all, by day, tool, model and device.

import { amountTable } from './details.js';
import { h, reconcile, setText } from './dom.js';
import { Question } from './question.js';
import { routeHash } from './state.js';
import { day } from './times.js';

export class Spending {
  #live;
  #question;
  #subject = {};

  constructor(live, changed) {
    this.#live = live;
    this.#question = new Question(live, () => live.spending(), changed);
  }

  render(list, { cards }) {
    const { year } = this.#live;
    if (cards !== this.#subject.cards || year !== this.#subject.year) this.#subject = { cards, year };
    this.#question.about(this.#subject);
    const { found, error } = this.#question;
    const parts = [
      ...(error ? [{ id: 'error', text: error }] : []),
      ...(found === undefined && !error ? [{ id: 'waiting', text: 'Loading…' }] : []),
      ...(found === null ? [{ id: 'none', text: 'No costs yet. They are counted from the tools’ logs, from the next push on.' }] : []),
      ...(found ? [{ id: 'accounts', table: found.accounts }] : []),
      ...(found?.days.length > 0 ? [{ id: 'days', days: found }] : []),
      ...(found?.tables ?? []).map((table) => ({ id: table.title, table })),
    ];
    reconcile(list, parts, ({ id }) => id,
      ({ table, days }) => table || days ? h('section', { class: days ? 'panel days' : 'panel' }) : h('p', { class: 'empty' }),
      (element, { text, table, days }) => {
        if (table) amountTable(element, table, 'h2', ({ id }) => id && routeHash('usage', id));
        else if (days) grid(element, days);
        else setText(element, text);
      });
  }
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const monthName = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });
/** So many weeks are a year, which takes a row of its own. */
const fewWeeks = 8;

/** A column for each week, with a square for each day. The one that has the focus, which arrow keys move, or the pointer is said below. */
function grid(element, { days, year }) {
  const shown = JSON.stringify([days, year]);
  if (element.shown === shown) return;
  element.shown = shown;
  // 1970-01-01 was a Thursday.
  const weekday = ({ number }) => (number + 3) % 7;
  const monday = days[0].number - weekday(days[0]);
  const weeks = Array.from({ length: Math.floor((days.at(-1).number - monday) / 7) + 1 }, (_, week) => monday + 7 * week);
  const today = days.length - 1;
  const said = h('p', { class: 'muted' });
  const say = (index) => setText(said, `${index === today ? 'Today, ' : ''}${days[index].text}`);
  const cells = days.map(({ level, text }, index) => h('td', {
    'data-level': level, 'aria-label': text, tabindex: -1, onfocus: () => select(index), onpointerenter: () => say(index),
  }));
  let selected = cells.findIndex((_, index) => days[index].number === element.selected);
  function select(index) {
    cells[selected].tabIndex = -1;
    cells[index].tabIndex = 0;
    selected = index;
    // The last day is that of today tomorrow, too.
    element.selected = index === today ? undefined : days[index].number;
    say(index);
  }
  function move(event) {
    const isMirrored = getComputedStyle(element).direction === 'rtl';
    const week = isMirrored ? -7 : 7;
    const step = { ArrowLeft: -week, ArrowRight: week, ArrowUp: -1, ArrowDown: 1, Home: -selected, End: today - selected }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const cell = cells[selected + step];
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  const row = (name, index) => h('tr', {}, h('th', { scope: 'row', text: name }),
    ...weeks.map((start) => cells[start + index - days[0].number] ?? h('td')));
  const table = h('table', { class: 'grid', role: 'grid', 'aria-label': 'By day', onkeydown: move, onpointerleave: () => say(selected) },
    h('thead', {}, h('tr', {}, h('td'), ...months(weeks))), h('tbody', {}, ...weekdays.map(row)));
  table.style.setProperty('--weeks', weeks.length);
  const hadFocus = element.contains(document.activeElement);
  const former = element.querySelector('.weeks');
  const box = former ?? h('div', { class: 'weeks' });
  box.replaceChildren(table);
  element.classList.toggle('year', weeks.length > fewWeeks);
  element.replaceChildren(h('h2', { text: 'By day' }), box, said,
    ...[year?.total, year?.record].filter(Boolean).map((text) => h('p', { class: 'muted', text })));
  selected = selected < 0 ? today : selected;
  select(selected);
  if (hadFocus) cells[selected].focus({ preventScroll: true });
  // When it is in the document.
  if (!former) queueMicrotask(() => { box.scrollLeft = getComputedStyle(box).direction === 'rtl' ? -box.scrollWidth : box.scrollWidth; });
}

/** The names of months, each above its weeks: those that begin in it. */
function months(weeks) {
  const names = [];
  for (const start of weeks) {
    const name = monthName.format(start * day);
    if (names.at(-1)?.name === name) names.at(-1).count += 1;
    else names.push({ name, count: 1 });
  }
  return names.map(({ name, count }) => count > 1 ? h('th', { scope: 'colgroup', colspan: count, text: name }) : h('td'));
}
