// The devices of the account: those that push, and those that look.

import { setTonedText } from './cards.js';
import { $, ask, h, perform, reconcile, setText } from './dom.js';
import { send } from './http.js';
import { routeHash } from './state.js';

export function renderDevices(list, devices, times, selected, me) {
  reconcile(list, devices, ({ id }) => id, createItem, (element, device) => {
    const state = times.value(device.states);
    const [name, presence, note] = element.firstElementChild.children;
    setText(name, device.name + (isOwn(device, me) ? ' (this page)' : ''));
    setText(presence, state.word);
    presence.dataset.tone = state.tone;
    setText(note, times.text(state.note));
    element.classList.toggle('selected', device.id === selected);
  });
}

const isOwn = (device, me) => me !== undefined && device.daemonID === me.deviceID;

const createItem = (device) => h('article', { class: 'item' },
  h('a', { href: routeHash('devices', device.id) },
    h('strong'), h('span', { class: 'presence' }), h('span', { class: 'muted' })));

export function renderDevice(element, device, times, me, signOut) {
  if (element.dataset.id !== device.id || element.childElementCount === 0) {
    element.dataset.id = device.id;
    element.replaceChildren(h('h2'), h('p'), h('p'), h('p', { class: 'muted' }), h('p', { class: 'muted' }),
      h('div', { class: 'row' }));
  }
  const [name, presence, reason, note, kind, actions] = element.children;
  const state = times.value(device.states);
  setText(name, device.name);
  setTonedText(presence, { text: [state.word], tone: state.tone }, times);
  setText(reason, `${state.reason[0].toUpperCase()}${state.reason.slice(1)}.${state.next ? ` Next: ${state.next}.` : ''}`);
  setText(note, times.text(state.note));
  setText(kind, device.isPage ? 'A web page.' : device.version ? `Pushes with version ${device.version}.` : '');
  const mayChange = me?.scopes.includes('admin') && device.daemonID !== undefined;
  const buttons = [
    ...(mayChange ? [['Rename…', () => rename(device)]] : []),
    ...(isOwn(device, me) ? [['Sign out', signOut]] : mayChange ? [['Remove…', () => remove(device)]] : []),
  ];
  reconcile(actions, buttons, ([label]) => label,
    ([label, action]) => h('button', { type: 'button', text: label, onclick: action }));
}

async function rename(device) {
  const field = h('input', { id: 'name', value: device.name, maxlength: 64, required: true });
  if (!await choose('Rename the device', 'Rename', h('label', { for: 'name', text: 'Name' }), field)) return;
  await perform(() => send('PATCH', `/v1/devices/${device.daemonID}`, { name: field.value.trim() }),
    'The device has been renamed.');
}

async function remove(device) {
  const text = `${device.name} will no longer see or change anything of the account. To come back it has to be paired again.`;
  if (!await choose('Remove the device?', 'Remove', h('p', { text }))) return;
  await perform(() => send('DELETE', `/v1/devices/${device.daemonID}`), 'The device has been removed.');
}

/** Whether the user confirms a dialog. */
export async function choose(title, action, ...body) {
  setText($('dialog-title'), title);
  setText($('dialog-action'), action);
  $('dialog-body').replaceChildren(...body);
  // With the type submit it would be what Enter does in a field.
  $('dialog-cancel').onclick = () => $('dialog').close('');
  return await ask($('dialog')) === 'yes';
}
