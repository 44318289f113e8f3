// The administration of the emulator over HTTP.

import { joinPath, parseJSON } from './http.js';

const base = '/emulator/v1';

/** A path below `/emulator/v1`, of which each part is encoded. */
export const path = (...parts) => joinPath(base, ...parts);

const eventNames = [
  'connected', 'disconnected', 'sync', 'change', 'reset', 'import', 'fault', 'faults', 'clock',
  'settings', 'account', 'violation',
];

/** Reads events of all worlds, reconnecting until `close()`. `lost` is called when older events are not kept any more, or are those of another emulator. */
export class EventReader {
  #source;
  #timer;
  #last = 0;
  #wasCut = false;
  #session;

  constructor({ event, lost, state }) {
    Object.assign(this, { event, lost, state });
    this.#open(0);
  }

  #open(after) {
    this.#source?.close();
    this.#last = after;
    const source = new EventSource(`${base}/events?after=${after}`);
    this.#source = source;
    source.addEventListener('opened', ({ data }) => {
      const { session } = parseJSON(data);
      const isOther = this.#session !== undefined && this.#session !== session;
      this.#session = session;
      this.state(true);
      // The ids of another emulator are others.
      if (!isOther) return;
      this.#open(0);
      this.lost();
    });
    source.addEventListener('missed', ({ lastEventId }) => {
      // The latest thousand are likely kept; if not, those from now on.
      const latest = Number(lastEventId);
      this.#session = undefined;
      this.#open(this.#wasCut ? latest : Math.max(0, latest - 1000));
      this.#wasCut = true;
      this.lost();
    });
    for (const name of eventNames) {
      source.addEventListener(name, ({ data, lastEventId }) => {
        this.#wasCut = false;
        this.#last = Number(lastEventId);
        this.event({ ...parseJSON(data), id: this.#last, event: name });
      });
    }
    source.addEventListener('error', () => {
      this.state(false);
      // The browser reconnects by itself unless the answer was an error.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#timer = setTimeout(() => this.#open(this.#last), 2000);
    });
  }

  close() {
    clearTimeout(this.#timer);
    this.#source.close();
  }
}
