// How things are shown, and who is signed in.

import { h } from './dom.js';
import { choose, options } from './state.js';
import { installation } from './worker.js';

const choices = [
  ['measure', 'Percentages', [['used', 'used'], ['left', 'left']]],
  ['isAbsolute', 'Times', [[false, 'in words'], [true, 'by the clock']]],
  ['sort', 'Accounts', [['least', 'what ends first'], ['name', 'by name']]],
  ['layout', 'Sections', [['auto', 'by width'], ['tabs', 'as tabs'], ['sidebar', 'beside']]],
];

const list = new Intl.ListFormat('en-GB');
/** "read, write and manage devices" */
const permissions = ({ scopes }) => list.format(scopes.map((scope) => scope === 'admin' ? 'manage devices' : scope));

export function renderSettings(element, live, alerts, signOut) {
  const account = live.me;
  const own = element.querySelector('.alerts');
  if (own) alerts.render(own, account?.deviceID);
  const shown = JSON.stringify(account);
  if (element.shown === shown) return check(element);
  element.shown = shown;
  element.replaceChildren(
    h('h2', { text: 'How it is shown' }),
    h('div', { class: 'choices' }, ...choices.map(([name, label, values]) => h('fieldset', {},
      h('legend', { text: label }),
      h('div', { class: 'segments' }, ...values.map(([value, text]) => {
        const input = h('input', { type: 'radio', name, value: String(value),
          onchange: () => choose(name, value) });
        return h('label', {}, input, h('span', { text }));
      }))))),
    h('fieldset', { class: 'choice alerts', hidden: true }),
    h('h2', { text: 'This browser' }),
    h('p', { class: 'muted', text: account
      ? `Signed in as ${account.device} of the account ${account.account}; may ${permissions(account)}.`
      : 'Not connected yet.' }),
    h('p', { class: 'note untrusted', text: 'The browser does not trust the certificate of this address. The page works as long '
      + 'as the daemon answers, but cannot be installed, opened without a network or send alerts. What to do: kvsd certificate' }),
    h('div', { class: 'row' }, h('button', { type: 'button', text: 'Sign out', onclick: signOut })));
  check(element);
  alerts.render(element.querySelector('.alerts'), account?.deviceID);
}

/** Shows what is chosen and known, and leaves the focus where it is. */
function check(element) {
  element.querySelector('.untrusted').hidden = installation.isPossible !== false;
  for (const [name] of choices) {
    for (const input of element.querySelectorAll(`input[name=${name}]`)) input.checked = input.value === String(options[name]);
  }
}
