// Keeps the page's own files, so that it opens without the computer and says that it is away.
// Only the names below are ever stored: no event, no picture, no answer, nothing with a query.
const SHELL = "anovax-shell-1";
const FILES = [
  "/", "/style.css", "/app.js", "/api.js", "/link.js", "/turn.js", "/cards.js", "/questions.js", "/talk.js", "/pcm.js",
  "/screen.js", "/past.js", "/pair.js", "/quick.js", "/words.js", "/words-en.js", "/words-de.js", "/words-ar.js", "/icon.svg",
  "/manifest.webmanifest",
];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = caches.keys().then((keys) => Promise.all(keys.filter((key) => key !== SHELL).map((key) => caches.delete(key))));
  event.waitUntil(old.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const ours = event.request.method === "GET" && url.origin === location.origin && !url.search;
  if (ours && FILES.includes(url.pathname)) event.respondWith(freshOrKept(event.request, url.pathname));
});

async function freshOrKept(request, path) {
  const cache = await caches.open(SHELL);
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(3000) });
    if (response.ok) await cache.put(path, response.clone());
    return response;
  } catch (error) {
    return (await cache.match(path)) ?? Promise.reject(error);
  }
}
