// Accounts as cards: the rows, words and order of the terminal.

import { h, reconcile, setText } from './dom.js';
import { address, options } from './state.js';

/** Less is left in the first of them. */
const least = (card, moment) => Math.min(Infinity, ...card.rows.map((row) => {
  const { gauge } = moment.value(row.content);
  return gauge ? gauge.left.percent : Infinity;
}));

export function renderCards(list, cards, moment, selected) {
  const sorted = options.sort === 'name' ? cards
    : [...cards].sort((a, b) => least(a, moment) - least(b, moment));
  reconcile(list, sorted, ({ id }) => id, createCard, (element, card) => {
    updateCard(element, card, moment);
    element.classList.toggle('selected', card.id === selected);
  });
}

export function createCard(card) {
  return h('article', { class: 'card' },
    h('header', {},
      h('h2', {}, h('a', { href: address('usage', card.id) })),
      h('p', { class: 'who' }), h('p', { class: 'age' })),
    h('div', { class: 'rows' }), h('p', { class: 'message' }));
}

export function updateCard(element, card, moment) {
  const [header, rows, message] = element.children;
  const [title, who, age] = header.children;
  setText(title.firstElementChild, card.name);
  setText(who, [card.account, card.plan].filter(Boolean).join(' · '));
  say(age, moment.value(card.age), moment);
  reconcile(rows, card.rows, (row) => `${row.label}/${card.rows.indexOf(row)}`, createRow,
    (element, row) => updateRow(element, row, moment));
  message.hidden = !card.status;
  if (card.status) say(message, card.status, moment);
}

/** Why there is nothing to show. */
export function renderEmpty(list, { title, steps }, moment) {
  reconcile(list, ['empty'], (id) => id, () => h('div', { class: 'empty' }, h('h2'), h('ul')),
    (element) => {
      setText(element.firstElementChild, moment.text(title));
      reconcile(element.lastElementChild, steps.map((step) => moment.text(step)), (step) => step,
        (text) => h('li', { text }));
    });
}

/** Words and their tone. */
export function say(element, toned, moment) {
  setText(element, moment.text(toned.text));
  element.dataset.tone = toned.tone;
}

const createRow = () => h('div', { class: 'use' },
  h('h3', {}), h('div', { class: 'bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 }, h('i')),
  h('p', { class: 'amount' }), h('p', { class: 'more' }));

const signs = { critical: '!! ', low: '! ', comfortable: '' };

function updateRow(element, row, moment) {
  const [label, bar, amount, more] = element.children;
  setText(label, row.label);
  const content = moment.value(row.content);
  const { gauge } = content;
  bar.hidden = !gauge;
  element.classList.toggle('plain', !gauge);
  if (!gauge) {
    say(amount, content, moment);
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
  const text = [gauge.reset, gauge.details].map((parts) => moment.text(parts)).filter(Boolean).join(' · ');
  setText(more, text);
  more.hidden = text === '';
}

/** Empty only for nothing, and full only for everything, so that a bar never contradicts its number. */
const filled = (percent) => percent <= 0 ? 0 : percent >= 100 ? 100 : Math.min(Math.max(percent, 1.5), 98.5);
