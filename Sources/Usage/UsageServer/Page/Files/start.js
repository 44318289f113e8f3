// Starts the page where it can work: a code must not be used up for a browser that then keeps nothing of it.

import { $, h } from './dom.js';

/** Whether the browser keeps what the page stores. */
function canStore() {
  try {
    for (const storage of [localStorage, sessionStorage]) {
      storage.setItem('probe', '1');
      storage.removeItem('probe');
    }
    const cookie = '__Host-probe=1; Secure; Path=/; SameSite=Strict';
    document.cookie = cookie;
    const isKept = document.cookie.includes('__Host-probe=');
    document.cookie = `${cookie}; Max-Age=0`;
    return isKept;
  } catch {
    return false;
  }
}

if (canStore()) await import('./page.js');
else {
  $('list').replaceChildren(h('div', { class: 'empty' },
    h('h2', { text: 'This browser blocks cookies or the storage of this page, without which it cannot stay signed in.' }),
    h('p', { text: `Allow ${location.host} to store data in the browser's settings. The code of an address is still unused.` }),
    h('button', { type: 'button', text: 'Try again', onclick: () => location.reload() })));
}
