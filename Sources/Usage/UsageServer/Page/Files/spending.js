// What all accounts cost: in all, by day, tool, model and device.

import { amountTable } from './details.js';
import { h, reconcile, setText } from './dom.js';
import { Question } from './question.js';
import { routeHash } from './state.js';
import { day } from './times.js';

export class Spending {
  #question;

  constructor(live, changed) { this.#question = new Question(live, () => live.spending(), changed); }

  render(list, { cards }) {
    this.#question.about(cards);
    const { found, error } = this.#question;
    const parts = [
      ...(error ? [{ id: 'error', text: error }] : []),
      ...(found === undefined && !error ? [{ id: 'waiting', text: 'Loading…' }] : []),
      ...(found === null ? [{ id: 'none', text: 'No costs yet. They are counted from the tools’ logs, from the next push on.' }] : []),
      ...(found ? [{ id: 'accounts', table: found.accounts }] : []),
      ...(found?.days.length > 0 ? [{ id: 'days', days: found.days }] : []),
      ...(found?.tables ?? []).map((table) => ({ id: table.title, table })),
    ];
    reconcile(list, parts, ({ id }) => id,
      ({ table, days }) => table || days ? h('section', { class: 'panel' }) : h('p', { class: 'empty' }),
      (element, { text, table, days }) => {
        if (table) amountTable(element, table, ({ id }) => id && routeHash('usage', id));
        else if (days) grid(element, days);
        else setText(element, text);
      });
  }
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const monthName = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

/** A column for each week, with a square for each day. */
function grid(element, days) {
  const shown = JSON.stringify(days);
  if (element.shown === shown) return;
  element.shown = shown;
  // 1970-01-01 was a Thursday.
  const weekday = ({ number }) => (number + 3) % 7;
  const monday = days[0].number - weekday(days[0]);
  const weeks = Array.from({ length: Math.floor((days.at(-1).number - monday) / 7) + 1 }, (_, week) => monday + 7 * week);
  const row = (name, index) => h('tr', {}, h('th', { scope: 'row', text: name }), ...weeks.map((start) => {
    const found = days[start + index - days[0].number];
    return found ? h('td', { 'data-level': found.level, title: found.text }, h('span', { class: 'hidden', text: found.text })) : h('td');
  }));
  const monthOf = (number) => monthName.format(number * day);
  const heads = weeks.map((start, week) => h('th', { scope: 'col',
    text: week === 0 || monthOf(start) !== monthOf(start - 7) ? monthOf(start) : '' }));
  element.replaceChildren(
    h('h3', { text: 'By day' }),
    h('table', { class: 'grid' }, h('thead', {}, h('tr', {}, h('td'), ...heads)), h('tbody', {}, ...weekdays.map(row))),
    h('p', { class: 'muted', text: `Today, ${days.at(-1).text}` }));
}
