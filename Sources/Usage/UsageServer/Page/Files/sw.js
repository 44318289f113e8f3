// Keeps the page's files, so that it opens at once and without a network, and shows alerts. The daemon puts `version` and `files`
// in front of this: another version is another worker, which has all of its files before it takes over.

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(version);
    await cache.addAll(files.map((file) => new Request(file, { cache: 'reload' })));
    await self.skipWaiting();
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== version) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== 'GET' || origin !== location.origin || !files.includes(pathname)) return;
  event.respondWith((async () => {
    const cache = await caches.open(version);
    return await cache.match(pathname) ?? fetch(event.request);
  })());
});

self.addEventListener('push', (event) => {
  const { title = 'Limits', body = '', tag } = event.data?.json() ?? {};
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: '/page/icon.png' }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const [window] = await self.clients.matchAll({ type: 'window' });
    await (window ? window.focus() : self.clients.openWindow('/'));
  })());
});
