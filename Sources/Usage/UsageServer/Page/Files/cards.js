// Accounts as cards, with the rows and texts of the terminal.

import { h, reconcile, setText } from './dom.js';
import { routeHash, options } from './state.js';

/** Compares ranks number by number, as the terminal does (UsageRank). */
function compare(left, right) {
  const index = left.findIndex((number, index) => number !== right[index]);
  return index < 0 ? left.length - right.length : left[index] - (right[index] ?? -Infinity);
}

/** The name of a tool, and its account. */
export const nameOf = ({ name, account }) => [name, account].filter(Boolean).join(', ');

const tool = ({ id }) => id.split('\t')[0];

/** What ends first is first, and the accounts of a tool are together. */
export function ordered(cards, times) {
  if (options.sort === 'name') return [...cards].sort((a, b) => a.id < b.id ? -1 : 1);
  const ranked = cards.map((card) => [times.value(card.rank), card]).sort(([a], [b]) => compare(a, b)).map(([, card]) => card);
  const groups = new Map(ranked.map((card) => [tool(card), []]));
  for (const card of ranked) groups.get(tool(card)).push(card);
  return [...groups.values()].flat();
}

const longest = (runs) => runs.reduce((found, run) => run.length >= found.length ? run : found, []);

/** Where the accounts are that others have not just passed, 'up' or 'down', by id (UsageOrder.moves). */
function moves(former, present) {
  const [old, ids] = [former.filter((id) => present.includes(id)), present.filter((id) => former.includes(id))];
  const runs = [];
  for (const id of ids) runs.push([...longest(runs.filter((run) => old.indexOf(run.at(-1)) < old.indexOf(id))), id]);
  const stayed = longest(runs);
  return new Map(ids.filter((id) => !stayed.includes(id))
    .map((id) => [id, ids.indexOf(id) < old.indexOf(id) ? 'up' : 'down']));
}

/** Milliseconds for which what has moved is marked. */
const markDuration = 5_000;

/** The cards in the order that is looked at, which changes with an account's urgency and not with each number (UsageOrder), and what has moved. */
function keptOrder(list, cards, times) {
  const { sort } = options;
  const places = JSON.stringify(cards.map(({ id, rank }) => [id, ...times.value(rank).slice(0, 2)]).sort());
  const former = list.order?.sort === sort ? list.order : undefined;
  if (former?.places === places) return [former.ids.map((id) => cards.find((card) => card.id === id))];
  const sorted = ordered(cards, times);
  const ids = sorted.map(({ id }) => id);
  list.order = { sort, places, ids };
  return [sorted, former && moves(former.ids, ids)];
}

export function renderCards(list, cards, times, selected) {
  // Where many are on a narrow screen, each is a row, which opens.
  const areRows = cards.length > 2 && matchMedia('(max-width: 640px)').matches;
  const hasSources = new Set(cards.map(({ source }) => source)).size > 1;
  const [order, moved] = keptOrder(list, cards, times);
  reconcile(list, order, ({ id }) => id, createCard, (element, card) => {
    updateCard(element, card, times, hasSources);
    element.classList.toggle('compact', areRows);
    element.classList.toggle('selected', card.id === selected);
    if (!moved?.has(card.id)) return;
    element.dataset.moved = moved.get(card.id);
    clearTimeout(element.mark);
    element.mark = setTimeout(() => delete element.dataset.moved, markDuration);
  });
}

/** Whether all is fine, and what ends first. */
export function renderAnswer(element, usage, times) {
  const answer = usage && !usage.empty ? times.value(usage.answer[options.measure]) : undefined;
  element.hidden = !answer;
  if (!answer) return;
  // Within two lines, which are there even if one is enough: what is below must not jump with a time.
  const { forms, tone } = answer;
  const length = ['(max-width: 360px)', '(max-width: 640px)'].filter((query) => matchMedia(query).matches).length;
  setTonedText(element, { text: forms[Math.min(length, forms.length - 1)], tone }, times);
}

export function createCard(card) {
  return h('article', { class: 'card' },
    h('header', {},
      // In a row they are one text.
      h('h2', {}, h('a', { href: routeHash('usage', card.id) })), ' ',
      h('p', { class: 'who' }), h('p', { class: 'age' })),
    h('div', { class: 'rows' }), h('p', { class: 'message' }));
}

export function updateCard(element, card, times, hasSources = true) {
  const [header, rows, message] = element.children;
  const [title, who, age] = header.children;
  setText(title.firstElementChild, card.name);
  // Links to several accounts of a tool have different names.
  title.firstElementChild.ariaLabel = nameOf(card);
  setText(who, [card.account, card.plan].filter(Boolean).join(' · '));
  const { text, tone } = times.value(card.age);
  setTonedText(age, { text, tone }, times);
  // What is fresh is told by its time alone.
  age.classList.toggle('fresh', text[0].ago !== undefined);
  if (hasSources && card.source) setText(age, `from ${card.source}, ${age.textContent}`);
  const leading = times.value(card.leading);
  reconcile(rows, card.rows, (row) => `${row.label}/${card.rows.indexOf(row)}`, createRow, (element, row) => {
    updateRow(element, row, times);
    element.classList.toggle('leading', card.rows.indexOf(row) === leading);
  });
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
  h('h3', {}), h('div', { class: 'bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 }, h('i'), h('b')),
  h('p', { class: 'amount' }, h('span'), h('span', { class: 'unit' })), h('p', { class: 'more' }));

/** Whether the numbers of a card are not those of now. */
export const isOld = ({ age }, times) => times.value(age).tone === 'warning';

const signs = { critical: '!! ', runsOut: '! ', low: '! ', comfortable: '' };

function updateRow(element, row, times) {
  const [label, bar, amount, more] = element.children;
  setText(label, row.label);
  const content = times.value(row.content);
  const { gauge } = content;
  bar.hidden = !gauge;
  element.classList.toggle('plain', !gauge);
  element.classList.toggle('old', Boolean(gauge?.isOld));
  if (!gauge) {
    const [text, unit] = amount.children;
    setTonedText(text, content, times);
    setText(unit, '');
    amount.dataset.tone = content.tone;
    more.hidden = true;
    return;
  }
  const shown = gauge[options.measure];
  element.dataset.tone = gauge.tone;
  amount.dataset.tone = gauge.tone;
  const [number, unit] = amount.children;
  const word = ` ${options.measure}`;
  // An old number warns only of what cannot have become better since.
  const sign = gauge.isOld ? '' : signs[gauge.urgency];
  const bound = options.measure === 'left' ? 'at most ' : 'at least ';
  const mark = gauge.isAtLeast ? bound : gauge.isApproximate && !shown.text.startsWith('<') ? '~' : '';
  setText(number, `${sign}${mark}${shown.text.slice(0, -word.length)}`);
  setText(unit, word);
  delete number.dataset.tone;
  bar.setAttribute('aria-label', row.label);
  bar.setAttribute('aria-valuenow', Math.round(shown.percent));
  bar.setAttribute('aria-valuetext', shown.text);
  bar.firstElementChild.style.inlineSize = `${filled(shown.percent)}%`;
  const even = evenPercent(gauge.span, times);
  const tick = bar.lastElementChild;
  tick.hidden = even === undefined;
  tick.style.insetInlineStart = `${options.measure === 'left' ? 100 - even : even}%`;
  const out = gauge.isOld ? '' : times.text(gauge.out);
  const text = [out && `▲ ${out}`, times.text(gauge.reset), times.text(gauge.details)].filter(Boolean).join(' · ');
  setText(more, text);
  more.dataset.tone = out ? gauge.tone : 'dim';
  more.hidden = text === '';
}

/** What an even use would have used by now. */
function evenPercent(span, times) {
  if (!span) return undefined;
  const [start, end] = span;
  return Math.min(Math.max((times.now - start) / (end - start), 0), 1) * 100;
}

/** Empty only for nothing, and full only for everything, so that a bar never contradicts its number. */
const filled = (percent) => percent <= 0 ? 0 : percent >= 100 ? 100 : Math.min(Math.max(percent, 1.5), 98.5);
