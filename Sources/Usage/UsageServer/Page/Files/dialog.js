// The dialog in which the page asks before it does something.

import { $, ask, h, perform, setText } from './dom.js';

/**
 * Asks, and runs `action` when the user confirms. The dialog stays until that is done, and says why it is not.
 *
 * @param {() => Promise<string>} action returns what to report
 * @returns whether it was done
 */
export async function confirm(title, label, body, action) {
  const [dialog, button, cancel] = ['dialog', 'dialog-action', 'dialog-cancel'].map($);
  const problem = h('p', { class: 'error', role: 'alert' });
  setText($('dialog-title'), title);
  setText(button, label);
  button.ariaBusy = 'false';
  $('dialog-body').replaceChildren(...body, problem);
  // With the type submit it would be what Enter does in a field.
  cancel.onclick = () => dialog.close('');
  dialog.querySelector('form').onsubmit = (event) => {
    event.preventDefault();
    setText(problem, '');
    perform(async () => {
      const isOpen = () => dialog.open && problem.isConnected;
      try {
        const outcome = await action();
        if (isOpen()) dialog.close('done');
        return outcome;
      } catch (error) {
        // Closed meanwhile, it is reported as anything else.
        if (!isOpen()) throw error;
        setText(problem, error.message);
        return undefined;
      }
    }, (outcome) => outcome, button);
  };
  return await ask(dialog) === 'done';
}
