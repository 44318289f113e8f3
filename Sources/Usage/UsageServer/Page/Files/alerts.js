// Warnings: from the daemon to this device, and without those from the open page.

import { announce, h, perform } from './dom.js';
import { get, send } from './http.js';
import { options } from './state.js';
import { utcOffset } from './times.js';
import { installation } from './worker.js';

const resource = '/v1/notifications';
/** Browsers themselves try for minutes. */
const subscribingSeconds = 20;
const kinds = [
  ['reached', 'when a limit is reached', true], ['runsOut', 'when one will run out before its reset', true],
  ['resetFrom', 'when one that was near has been reset', 75], ['silence', 'when a machine no longer pushes', true],
  ['pauses', 'when an agent is paused', true],
];

/** What the daemon sends to this device. */
export class Alerts {
  #state;
  #subscription;
  /** The device for which the daemon was asked. */
  #device;
  #changeCount = 0;

  constructor(changed) { this.changed = changed; }

  async #ask() {
    this.#state = this.#subscription = undefined;
    try {
      const registration = await navigator.serviceWorker.ready;
      this.#subscription = await registration.pushManager?.getSubscription();
      this.#state = await get(resource);
      await this.#renew();
    } catch { /* Asked again when the settings are opened again. */ }
    this.changed();
  }

  /** The daemon's key or the user's time zone may have changed. */
  async #renew() {
    if (!this.#subscription) return;
    const { publicKey, settings, subscriptions } = this.#state;
    const key = btoa(String.fromCharCode(...new Uint8Array(this.#subscription.options.applicationServerKey)));
    if (key.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') !== publicKey) {
      await this.#subscription.unsubscribe();
      this.#subscription = undefined;
    } else if (subscriptions > 0 && settings.utcOffset !== utcOffset()) {
      this.#state = await send('PUT', resource, { settings: { ...settings, utcOffset: utcOffset() } });
    }
  }


  /** Draws into a fieldset. */
  render(element, device) {
    if (installation.isPossible && this.#device !== device) {
      this.#device = device;
      this.#ask();
    }
    const isOn = Boolean(this.#subscription) && this.#state?.subscriptions > 0;
    const shown = JSON.stringify([installation.isPossible, isOn, this.#state, globalThis.Notification?.permission, this.#changeCount]);
    element.hidden = !installation.isPossible;
    if (element.shown === shown) return;
    element.shown = shown;
    element.replaceChildren(h('legend', { text: 'Alerts' }), ...this.#content(isOn));
  }

  #content(isOn) {
    if (!this.#state) return [];
    if (!globalThis.PushManager || !globalThis.Notification) {
      return [h('p', { text: 'This browser shows no alerts here. On an iPhone or iPad, put the page on the home screen and open it there.' })];
    }
    if (Notification.permission === 'denied') {
      return [h('p', { text: 'The browser blocks notifications of this address. Allow them in its settings for the site, and load the page again.' })];
    }
    if (!isOn) {
      return [h('p', { text: 'The daemon can warn this device, also while the page is closed.' }),
        button('Warn this device', () => this.#subscribe(), 'This device is warned from now on.')];
    }
    return [h('p', { text: 'The daemon warns this device.' }), this.#rules(),
      h('div', { class: 'row' },
        button('Send a test', sendTest, 'A test notification has been sent.'),
        button('Stop', () => this.#unsubscribe(), 'This device is no longer warned.'))];
  }

  async #subscribe() {
    if (await Notification.requestPermission() !== 'granted') throw new Error('The browser was not permitted to show notifications.');
    const subscription = await within(subscribingSeconds,
      navigator.serviceWorker.ready.then(({ pushManager }) =>
        pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: this.#state.publicKey })),
      'the browser could not reach its push service. A firewall may block it, or the browser may have none');
    const { endpoint, keys } = subscription.toJSON();
    try {
      this.#state = await send('PUT', resource, {
        subscription: { endpoint, keys }, settings: { ...this.#state.settings, utcOffset: utcOffset() } });
    } catch (error) {
      await subscription.unsubscribe();
      throw error;
    }
    this.#subscription = subscription;
    this.changed();
  }

  async #unsubscribe() {
    await send('DELETE', resource);
    await this.#subscription.unsubscribe();
    this.#subscription = undefined;
    this.changed();
  }

  /** What is worth an alert: for all devices of the account that the daemon warns. */
  #rules() {
    const { rules, quietHours } = this.#state.settings;
    const set = async (change) => {
      await perform(async () => {
        // Another device may have changed others meanwhile.
        const { settings } = await get(resource);
        this.#state = await send('PUT', resource, { settings: { ...settings, ...change(settings), utcOffset: utcOffset() } });
      }, 'The alerts of all devices that the daemon warns have been changed.');
      // What could not be changed is shown as it was.
      this.#changeCount += 1;
      this.changed();
    };
    const setRule = (change) => set((settings) => ({ rules: { ...settings.rules, ...change(settings.rules) } }));
    const check = (text, checked, onchange) => h('label', {}, h('input', { type: 'checkbox', checked, onchange }), ` ${text}`);
    const thresholds = [...new Set([50, 75, 90, ...rules.thresholds])].sort((a, b) => a - b);
    const [from = '', to = ''] = quietHours?.split('-') ?? [];
    const times = [['from', from], ['to', to]].map(([name, value]) => h('input', { type: 'time', value, 'aria-label': `Quiet ${name}` }));
    const quiet = () => {
      const [start, end] = times.map(({ value }) => value);
      if ((start === '') === (end === '')) set(() => ({ quietHours: start === '' ? undefined : `${start}-${end}` }));
    };
    for (const field of times) field.addEventListener('change', quiet);
    return h('div', { class: 'rules' },
      ...thresholds.map((threshold) => check(`at ${threshold} % used`, rules.thresholds.includes(threshold), ({ target }) => setRule(
        (present) => ({ thresholds: [...present.thresholds.filter((other) => other !== threshold),
          ...(target.checked ? [threshold] : [])].sort((a, b) => a - b) })))),
      ...kinds.map(([name, text, on]) => check(text, Boolean(rules[name]),
        ({ target }) => setRule(() => ({ [name]: target.checked ? on : name === 'resetFrom' ? null : false })))),
      h('p', {}, 'quiet from ', times[0], ' to ', times[1]));
  }
}

async function sendTest() {
  const { sent, failures } = await send('POST', `${resource}/test`);
  if (sent === 0) throw new Error(`No test notification was sent: ${failures[0] ?? 'the browser has ended the subscription'}.`);
}

/** What a promise gives, or an error with the reason if that takes too long. */
async function within(seconds, promise, reason) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${seconds} s: ${reason}.`)), seconds * 1_000);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

const button = (text, action, outcome) => h('button', {
  type: 'button', text, onclick: ({ currentTarget }) => perform(action, outcome, currentTarget) });

const worse = { good: 0, watch: 1, warning: 2, bad: 3 };

/** Announces limits that have come closer, in an open page. */
export function warn(former, present) {
  const tones = new Map((former?.cards ?? []).flatMap((card) => card.rows.map((row) => [`${card.id}\n${row.label}`, row.content[0].value.gauge?.tone])));
  const found = (present?.cards ?? []).flatMap((card) => card.rows.filter((row) => {
    const { gauge } = row.content[0].value;
    return gauge && worse[gauge.tone] > (worse[tones.get(`${card.id}\n${row.label}`)] ?? 3);
  }).map((row) => `${card.name} ${row.label}: ${row.content[0].value.gauge[options.measure].text}`));
  if (found.length > 0) announce(found.join(', '), true);
}
