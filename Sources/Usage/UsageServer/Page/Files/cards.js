// Accounts as cards, with the rows and texts of the terminal.

import { h, reconcile, setText } from './dom.js';
import { routeHash, options } from './state.js';

/** The least percentage left in any of its windows. */
const least = (card, times) => Math.min(Infinity, ...card.rows.map((row) => {
  const { gauge } = times.value(row.content);
  return gauge ? gauge.left.percent : Infinity;
}));

export function renderCards(list, cards, times, selected) {
  const sorted = options.sort === 'name' ? cards
    : [...cards].sort((a, b) => least(a, times) - least(b, times));
  reconcile(list, sorted, ({ id }) => id, createCard, (element, card) => {
    updateCard(element, card, times);
    element.classList.toggle('selected', card.id === selected);
  });
}

export function createCard(card) {
  return h('article', { class: 'card' },
    h('header', {},
      h('h2', {}, h('a', { href: routeHash('usage', card.id) })),
      h('p', { class: 'who' }), h('p', { class: 'age' })),
    h('div', { class: 'rows' }), h('p', { class: 'message' }));
}

export function updateCard(element, card, times) {
  const [header, rows, message] = element.children;
  const [title, who, age] = header.children;
  setText(title.firstElementChild, card.name);
  // Of several accounts of a tool, links have different names.
  title.firstElementChild.ariaLabel = [card.name, card.account].filter(Boolean).join(', ');
  setText(who, [card.account, card.plan].filter(Boolean).join(' · '));
  setTonedText(age, times.value(card.age), times);
  reconcile(rows, card.rows, (row) => `${row.label}/${card.rows.indexOf(row)}`, createRow,
    (element, row) => updateRow(element, row, times));
  message.hidden = !card.status;
  if (card.status) setTonedText(message, card.status, times);
}

/** Why there is nothing to show. */
export function renderEmpty(list, { title, steps }, times) {
  reconcile(list, ['empty'], (id) => id, () => h('div', { class: 'empty' }, h('h2'), h('ul')),
    (element) => {
      setText(element.firstElementChild, times.text(title));
      reconcile(element.lastElementChild, steps.map((step) => times.text(step)), (step) => step,
        (text) => h('li', { text }));
    });
}

/** Shows a text, colored by its tone. */
export function setTonedText(element, toned, times) {
  setText(element, times.text(toned.text));
  element.dataset.tone = toned.tone;
}

const createRow = () => h('div', { class: 'use' },
  h('h3', {}), h('div', { class: 'bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 }, h('i')),
  h('p', { class: 'amount' }), h('p', { class: 'more' }));

const signs = { critical: '!! ', low: '! ', comfortable: '' };

function updateRow(element, row, times) {
  const [label, bar, amount, more] = element.children;
  setText(label, row.label);
  const content = times.value(row.content);
  const { gauge } = content;
  bar.hidden = !gauge;
  element.classList.toggle('plain', !gauge);
  if (!gauge) {
    setTonedText(amount, content, times);
    more.hidden = true;
    return;
  }
  const shown = gauge[options.measure];
  element.dataset.tone = gauge.tone;
  amount.dataset.tone = gauge.tone;
  setText(amount, `${signs[gauge.level]}${gauge.isEstimate ? '~' : ''}${shown.text}`);
  bar.setAttribute('aria-label', row.label);
  bar.setAttribute('aria-valuenow', Math.round(shown.percent));
  bar.setAttribute('aria-valuetext', shown.text);
  bar.firstElementChild.style.inlineSize = `${filled(shown.percent)}%`;
  const text = [gauge.reset, gauge.details].map((parts) => times.text(parts)).filter(Boolean).join(' · ');
  setText(more, text);
  more.hidden = text === '';
}

/** Empty only for nothing, and full only for everything, so that a bar never contradicts its number. */
const filled = (percent) => percent <= 0 ? 0 : percent >= 100 ? 100 : Math.min(Math.max(percent, 1.5), 98.5);
