// Elements are built from text, never from markup: names and values of a store can be anything.

export const $ = (id) => document.getElementById(id);

/** An element; properties beginning with "on" are listeners, children are elements or text. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.className = value;
    else if (name === 'text') element.textContent = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** An element of a picture. */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const hiddenCharacters =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cn}\p{Cs}\uFFFD]|(?<=\p{M}{4})\p{M}/gu;

/** The text with every character that is hidden, or changes how others look, as `\u{…}`: that of terminals (VisibleText). */
export const visible = (text) => text.replace(/[\uFE0E\uFE0F]/g, '')
  .replace(hiddenCharacters, (character) => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes the children of `parent` one element per item, in order, keeping those (and the focus) that exist. */
export function reconcile(parent, items, keyOf, create, update = () => {}) {
  const present = new Map();
  for (const child of [...parent.children]) present.set(child.reconcileKey, child);
  let position = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let element = present.get(key);
    if (element) present.delete(key);
    else {
      element = create(item);
      element.reconcileKey = key;
    }
    update(element, item);
    if (element === position) position = position.nextElementSibling;
    else parent.insertBefore(element, position);
  }
  for (const element of present.values()) element.remove();
}

export function options(select, values, selected) {
  reconcile(select, values, ([value]) => value, ([value]) => h('option', { value }),
    (option, [, label]) => setText(option, label));
  if (select.value !== selected) select.value = selected;
}

/** Reports an outcome to everyone, screen readers included. */
export function announce(text, isError = false) {
  const status = $('status');
  status.classList.toggle('error', isError);
  status.textContent = text;
  announced = Date.now();
}

let announced = 0;

/** Takes away what was reported, unless it may not have been read yet. */
export function dismiss() {
  if (Date.now() - announced > 5_000) announce('');
}

/** Runs an action of the user and reports what came of it. The control that began it is busy meanwhile, and begins it only once. */
export async function perform(action, outcome, control) {
  if (control?.ariaBusy === 'true') return undefined;
  if (control) control.ariaBusy = 'true';
  try {
    const result = await action();
    const text = typeof outcome === 'function' ? outcome(result) : outcome;
    if (text) announce(text);
    return result;
  } catch (error) {
    announce(error.message, true);
    return undefined;
  } finally {
    if (control) control.ariaBusy = 'false';
  }
}

/** Opens a dialog and returns its return value: that of the button that closed it, "" for Escape. */
export function ask(dialog) {
  return new Promise((resolve) => {
    dialog.returnValue = '';
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true });
    dialog.showModal();
  });
}

export const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
