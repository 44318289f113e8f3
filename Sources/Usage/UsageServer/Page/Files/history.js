// The last week of every limit, asked for when it is seen.

import { ordered } from './cards.js';
import { h, reconcile, setText } from './dom.js';
import { drawPlot } from './plot.js';
import { routeHash } from './state.js';

export class History {
  #live;
  /** By account: the card of which they are, and its plots. */
  #found = new Map();
  #isSeen = new Set();
  #observer;

  constructor(live, changed) {
    this.#live = live;
    this.changed = changed;
    this.#observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.#isSeen.add(target);
        else this.#isSeen.delete(target);
      }
      changed();
    }, { rootMargin: '200px' });
  }

  async #load(card) {
    const found = { card, series: this.#found.get(card.id)?.series };
    this.#found.set(card.id, found);
    try {
      found.series = (await this.#live.details(card))?.series ?? [];
      found.error = undefined;
    } catch (error) {
      found.error = error.message;
    }
    this.changed();
  }

  render(list, cards, times) {
    const shown = ordered(cards.filter(({ rows }) => rows.some(({ content }) => content[0].value.gauge)), times);
    for (const id of this.#found.keys()) if (!cards.some((card) => card.id === id)) this.#found.delete(id);
    reconcile(list, shown, ({ id }) => id, (card) => {
      const element = h('article', { class: 'past' },
        h('h2', {}, h('a', { href: routeHash('usage', card.id) })), h('p', { class: 'muted' }), h('div', { class: 'plots' }));
      this.#observer.observe(element);
      return element;
    }, (element, card) => {
      const [title, note, plots] = element.children;
      setText(title.firstElementChild, [card.name, card.account].filter(Boolean).join(', '));
      const found = this.#found.get(card.id);
      if (this.#isSeen.has(element) && found?.card !== card) this.#load(card);
      const text = found?.error ?? (!found?.series ? 'Loading…'
        : found.series.length === 0 ? 'No samples yet: they are kept on the machine that pushes, from its next push on.' : '');
      setText(note, text);
      note.hidden = !text;
      reconcile(plots, found?.series ?? [], ({ label }) => label, () => h('figure', { class: 'plot' }),
        (figure, series) => drawPlot(figure, series, times));
    });
    if (shown.length === 0) reconcile(list, ['none'], (id) => id, () => h('p', { class: 'empty', text: 'No limits are known yet.' }));
  }
}
