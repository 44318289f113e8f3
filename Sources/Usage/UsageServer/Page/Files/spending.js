// What all accounts cost: in all, by day, tool, model and device.

import { amountTable } from './details.js';
import { h, reconcile, setText } from './dom.js';
import { routeHash } from './state.js';
import { day } from './times.js';

/** Asked for again when the cards have changed. */
export class Spending {
  #live;
  #usage;
  #found;
  #error;

  constructor(live, changed) {
    this.#live = live;
    this.changed = changed;
  }

  async #load(usage) {
    this.#usage = usage;
    try {
      const { spending } = await this.#live.spending();
      this.#found = spending ?? null;
      this.#error = undefined;
    } catch (error) {
      this.#error = error.message;
    }
    this.changed();
  }

  render(list, usage) {
    if (this.#usage !== usage) this.#load(usage);
    const found = this.#found;
    const parts = [
      ...(this.#error ? [{ id: 'error', text: this.#error }] : []),
      ...(found === undefined && !this.#error ? [{ id: 'waiting', text: 'Loading…' }] : []),
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
  const row = (name, index) => h('tr', {}, h('th', { scope: 'row', text: name }),
    ...Array.from({ length: Math.floor((days.at(-1).number - monday) / 7) + 1 }, (_, week) => {
      const found = days[monday + 7 * week + index - days[0].number];
      return found ? h('td', { 'data-level': found.level, title: found.text }, h('span', { class: 'hidden', text: found.text })) : h('td');
    }));
  const heads = Array.from({ length: Math.floor((days.at(-1).number - monday) / 7) + 1 }, (_, week) => {
    const [first, before] = [0, -7].map((offset) => new Date((monday + 7 * week + offset) * day));
    return h('th', { scope: 'col', text: week === 0 || first.getUTCMonth() !== before.getUTCMonth() ? monthName.format(first) : '' });
  });
  element.replaceChildren(
    h('h3', { text: 'By day' }),
    h('table', { class: 'grid' }, h('thead', {}, h('tr', {}, h('td'), ...heads)), h('tbody', {}, ...weekdays.map(row))),
    h('p', { class: 'muted', text: `Today, ${days.at(-1).text}` }));
}
