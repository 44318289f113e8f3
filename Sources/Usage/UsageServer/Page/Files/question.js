// What the daemon is asked about a part of the usage.

/** An answer about a subject, asked for again when the subject has changed. */
export class Question {
  /** The last answer, and the reason why there is no newer one. */
  found;
  error;
  #subject;
  #text;

  #connection;

  /**
   * @param {Live} live
   * @param {(subject) => Promise} ask
   * @param {() => void} changed called after `found` or `error` has changed
   */
  constructor(live, ask, changed) { Object.assign(this, { live, ask, changed }); }

  about(subject) {
    // Without an answer it is asked again with the next connection.
    if (this.error && this.#connection !== this.live.connection) this.#subject = this.#text = undefined;
    if (subject === this.#subject) return;
    this.#subject = subject;
    this.#connection = this.live.connection;
    // Every answer about the usage has new objects, most of them as before.
    const text = JSON.stringify(subject);
    if (text === this.#text) return;
    this.#text = text;
    this.#load(subject, text);
  }

  async #load(subject, text) {
    let [found, error] = [this.found];
    try {
      found = await this.ask(subject);
    } catch (problem) {
      error = problem.message;
    }
    // There is a later question, whose answer may have been faster.
    if (text !== this.#text) return;
    Object.assign(this, { found, error });
    this.changed();
  }
}
