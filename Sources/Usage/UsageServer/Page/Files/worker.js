// Newer versions of the page, and the service worker, where the browser permits one: only where it trusts the daemon's certificate.

import { $ } from './dom.js';
import { request } from './http.js';

/** `isPossible`: undefined until it is known, then whether the page can be installed, opened offline and send alerts. */
export const installation = {};

/** Whether a worker has this page's files: then another one has newer ones. */
let isControlled = Boolean(navigator.serviceWorker?.controller);

export async function installWorker() {
  if (!isSecureContext || !navigator.serviceWorker) {
    installation.isPossible = false;
    return;
  }
  // A new version has all of its files: from now on they come from it.
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    const wasControlled = isControlled;
    isControlled = navigator.serviceWorker.controller !== null;
    if (wasControlled && isControlled) replace();
  });
  const policy = globalThis.trustedTypes?.createPolicy('worker', { createScriptURL: () => '/sw.js' });
  try {
    await navigator.serviceWorker.register(policy ? policy.createScriptURL('') : '/sw.js', { updateViaCache: 'none' });
    installation.isPossible = true;
  } catch {
    installation.isPossible = false;
  }
}

/** Is called when signing out has removed the worker: one that comes afterwards is not newer. */
export function forgetWorker() { isControlled = false; }

/** Shows the newer page, unless something is being edited: then it is offered. */
function replace() {
  if ($('dialog').open) $('renew').hidden = false;
  else location.reload();
}

/** Identifies all files of the page. */
let version;

/** Asks whether the daemon has another version of the page than this one. */
export async function checkVersion() {
  const tag = (await request('HEAD', '/sw.js')).headers.get('ETag');
  const isNewer = version !== undefined && version !== tag;
  version = tag;
  if (!isNewer) return;
  // A new worker has to fetch the files first.
  const registration = installation.isPossible && await navigator.serviceWorker.getRegistration();
  if (registration) await registration.update();
  else replace();
}
