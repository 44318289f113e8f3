// The service worker, where the browser permits one: only where it trusts the daemon's certificate.

/** Nil until it is known, then whether the page can be installed, opened offline and send alerts. */
export let canInstall;

export async function installWorker() {
  if (!isSecureContext || !navigator.serviceWorker) {
    canInstall = false;
    return;
  }
  const wasControlled = navigator.serviceWorker.controller !== null;
  // A new version has all of its files: from now on they come from it.
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    // Signing out ends the worker, and must not be interrupted.
    if (wasControlled && navigator.serviceWorker.controller) location.reload();
  });
  const policy = globalThis.trustedTypes?.createPolicy('worker', { createScriptURL: () => '/sw.js' });
  try {
    await navigator.serviceWorker.register(policy ? policy.createScriptURL('') : '/sw.js', { updateViaCache: 'none' });
    canInstall = true;
  } catch {
    canInstall = false;
  }
}
