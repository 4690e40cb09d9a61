import { defineConfig } from 'vite';

// `npm run dev` serves the page with reloads and passes the admin API on to a running emulator. It removes the headers by which
// the emulator recognizes a page of another origin.
const emulator = process.env['PENSTOCK_ADMIN_URL'] ?? 'http://127.0.0.1:9001';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  cacheDir: '../build/console/vite',
  build: {
    outDir: '../build/console/dist',
    emptyOutDir: true,
    // The first versions with light-dark() and @starting-style of each browser, or later.
    target: ['chrome125', 'firefox129', 'safari18'],
    // The page's Content-Security-Policy forbids what is inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      '/_penstock': {
        target: emulator,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on('proxyReq', (request) => {
            for (const name of ['origin', 'referer', 'sec-fetch-site']) request.removeHeader(name);
          });
        },
      },
    },
  },
});
