// The last week of every limit, asked for when it is seen.

import { nameOf, ordered } from './cards.js';
import { h, reconcile, setText } from './dom.js';
import { drawPlot } from './plot.js';
import { Question } from './question.js';
import { routeHash } from './state.js';

export class History {
  /** By account. */
  #questions = new Map();
  #isSeen = new Set();
  #observer;

  constructor(live, changed) {
    Object.assign(this, { live, changed });
    this.#observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.#isSeen.add(target);
        else this.#isSeen.delete(target);
      }
      changed();
    }, { rootMargin: '200px' });
  }

  #questionAbout({ id }) {
    if (!this.#questions.has(id)) {
      const ask = async (card) => (await this.live.details(card))?.series ?? [];
      this.#questions.set(id, new Question(this.live, ask, this.changed));
    }
    return this.#questions.get(id);
  }

  render(list, cards, times) {
    const shown = ordered(cards.filter(({ rows }) => rows.some(({ content }) => content[0].value.gauge)), times);
    for (const id of this.#questions.keys()) if (!shown.some((card) => card.id === id)) this.#questions.delete(id);
    if (shown.length === 0) {
      return reconcile(list, ['none'], (id) => id, () => h('p', { class: 'empty', text: 'No limits are known yet.' }));
    }
    reconcile(list, shown, ({ id }) => id, (card) => this.#create(card), (element, card) => this.#update(element, card, times));
  }

  #create(card) {
    const element = h('article', { class: 'past' },
      h('h2', {}, h('a', { href: routeHash('usage', card.id) })), h('p', { class: 'muted' }), h('div', { class: 'plots' }));
    this.#observer.observe(element);
    return element;
  }

  #update(element, card, times) {
    const [title, note, plots] = element.children;
    setText(title.firstElementChild, nameOf(card));
    const question = this.#questionAbout(card);
    if (this.#isSeen.has(element)) question.about(card);
    const { found: series, error } = question;
    setText(note, error ?? (!series ? 'Loading…'
      : series.length === 0 ? 'No samples yet: they are kept on the machine that pushes, from its next push on.' : ''));
    note.hidden = !note.textContent;
    reconcile(plots, series ?? [], ({ label }) => label, () => h('figure', { class: 'plot' }),
      (figure, series) => drawPlot(figure, series, card, times));
  }
}
