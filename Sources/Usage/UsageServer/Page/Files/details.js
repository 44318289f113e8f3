// Everything that is known about one account.

import { createCard, setTonedText, updateCard } from './cards.js';
import { h, reconcile, setText } from './dom.js';
import { drawPlot } from './plot.js';

/** The account of a card, asked for again when the card has changed. */
export class Details {
  #live;
  #card;
  #found;
  #error;

  constructor(live, changed) {
    this.#live = live;
    this.changed = changed;
  }

  async #load(card) {
    this.#card = card;
    try {
      const found = await this.#live.details(card);
      if (this.#card !== card) return;
      this.#found = found;
      this.#error = undefined;
    } catch (error) {
      if (this.#card === card) this.#error = error.message;
    }
    this.changed();
  }

  render(element, card, times) {
    if (this.#card?.id !== card.id) this.#found = this.#error = undefined;
    if (this.#card !== card) this.#load(card);
    let [top, rest] = element.children;
    if (element.dataset.id !== card.id || !top) {
      element.dataset.id = card.id;
      [top, rest] = [createCard(card), h('div', { class: 'details' })];
      element.replaceChildren(top, rest);
    }
    updateCard(top, card, times);
    const found = this.#found;
    const parts = [];
    if (this.#error) parts.push({ id: 'error', error: this.#error });
    if (found) {
      parts.push(...found.notes.map((note, index) => ({ id: `note ${index}`, note: times.value(note) }))
        .filter(({ note }) => note));
      parts.push(...found.series.map((series) => ({ id: `plot ${series.label}`, series })));
      parts.push(...found.tables.map((table) => ({ id: table.title, table })));
      parts.push({ id: 'devices', devices: found.devices });
    }
    reconcile(rest, parts, ({ id }) => id, create, (element, part) => update(element, part, times));
  }
}

function create({ error, note, series, table }) {
  if (error) return h('p', { class: 'error', role: 'alert' });
  if (note) return h('div', { class: 'note' }, h('p'), h('p', { class: 'muted' }));
  if (series) return h('figure', { class: 'plot' });
  if (table) return h('div', { class: 'panel' });
  return h('p', { class: 'muted' });
}

function update(element, { error, note, series, table, devices }, times) {
  if (error) return setText(element, error);
  if (note) {
    setTonedText(element.firstElementChild, note, times);
    return setText(element.lastElementChild, note.next && `Next: ${note.next}`);
  }
  if (series) return drawPlot(element, series, times);
  if (table) return amountTable(element, table);
  return setText(element, devices.length > 0 ? `Seen by ${devices.join(', ')}` : '');
}

/** Draws rows of amounts; `address` is where the name of a row leads to. */
export function amountTable(element, table, address = () => undefined) {
  const text = JSON.stringify(table);
  if (element.shown === text) return;
  element.shown = text;
  const greatest = Math.max(...table.rows.map(({ value }) => value), 0);
  const rows = table.rows.map((row) => {
    const bar = h('i');
    bar.style.inlineSize = greatest > 0 ? `${row.value / greatest * 100}%` : '0';
    const href = address(row);
    return h('tr', {}, h('th', { scope: 'row' }, href ? h('a', { href, text: row.name }) : row.name),
      ...row.texts.map((text) => h('td', { class: 'number', text })),
      h('td', { class: 'share', 'aria-hidden': 'true' }, bar));
  });
  element.replaceChildren(
    h('h3', { text: table.title }), h('table', {},
      ...(table.columns.length > 0 ? [h('thead', {}, h('tr', {}, h('td'), ...table.columns.map((name) => h('th', { class: 'number', scope: 'col', text: name }))))] : []),
      h('tbody', {}, ...rows)),
    ...(table.moreCount > 0 ? [h('p', { class: 'muted', text: `… ${table.moreCount} more` })] : []));
}
