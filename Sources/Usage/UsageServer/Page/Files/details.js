// Everything that is known about one account.

import { createCard, setTonedText, updateCard } from './cards.js';
import { h, reconcile, setText } from './dom.js';
import { drawPlot } from './plot.js';
import { Question } from './question.js';

/** The account of a card. */
export class Details {
  #question;
  #id;

  constructor(live, changed) { Object.assign(this, { live, changed }); }

  render(element, card, times) {
    if (this.#id !== card.id) {
      this.#id = card.id;
      this.#question = new Question(this.live, (card) => this.live.details(card), () => this.changed());
    }
    this.#question.about(card);
    const { found, error } = this.#question;
    let [top, rest] = element.children;
    if (element.dataset.id !== card.id || !top) {
      element.dataset.id = card.id;
      [top, rest] = [createCard(card), h('div', { class: 'details' })];
      element.replaceChildren(top, rest);
    }
    updateCard(top, card, times);
    const parts = error ? [{ id: 'error', error }] : [];
    if (found) {
      parts.push(...found.notes.map((note, index) => ({ id: `note ${index}`, note: times.value(note) }))
        .filter(({ note }) => note));
      parts.push(...found.series.map((series) => ({ id: `plot ${series.label}`, series, card })));
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

function update(element, { error, note, series, card, table, devices }, times) {
  if (error) return setText(element, error);
  if (note) {
    setTonedText(element.firstElementChild, note, times);
    return setText(element.lastElementChild, note.next && `Next: ${note.next}`);
  }
  if (series) return drawPlot(element, series, card, times);
  if (table) return amountTable(element, table);
  return setText(element, devices.length > 0 ? `Seen by ${devices.join(', ')}` : '');
}

/** Draws rows of amounts; `heading` is the tag of the title, and `address` where the name of a row leads to. */
export function amountTable(element, table, heading = 'h3', address = () => undefined) {
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
  const columns = Math.max(1, ...table.rows.map(({ texts }) => texts.length));
  const amounts = h('table', { class: columns > 1 ? 'amounts' : '' },
    ...(table.columns.length > 0 ? [h('thead', {}, h('tr', {}, h('td'), ...table.columns.map((name) => h('th', { class: 'number', scope: 'col', text: name }))))] : []),
    h('tbody', {}, ...rows));
  amounts.style.setProperty('--columns', columns);
  element.replaceChildren(h(heading, { text: table.title }), amounts,
    ...(table.moreCount > 0 ? [h('p', { class: 'muted', text: `… ${table.moreCount} more` })] : []));
}
