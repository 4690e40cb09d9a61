import { defineConfig, type Plugin } from 'vite';
import { isSameOrigin, originHeaders } from './src/lib/same_origin.ts';

const emulator = process.env['PENSTOCK_ADMIN_URL'] ?? 'http://127.0.0.1:9001';
const api = '/_penstock';

// `npm run dev` serves the page with reloads and passes the admin API on to a running emulator. The emulator refuses pages of other
// origins than its own. So this server refuses those of other origins than its own, and removes the headers that name the origin.
const refuseOtherOrigins: Plugin = {
  name: 'refuse-other-origins',
  configureServer: ({ middlewares }) => {
    middlewares.use((request, response, next) => {
      if (!request.url?.startsWith(api) || isSameOrigin(request.headers)) return next();
      response.writeHead(403, { 'Content-Type': 'text/plain' });
      response.end('This page is of another origin. Only the page of this server may use it.\n');
    });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [refuseOtherOrigins],
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
    cors: false,
    proxy: {
      [api]: {
        target: emulator,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on('proxyReq', (request) => {
            for (const name of originHeaders) request.removeHeader(name);
          });
        },
      },
    },
  },
});
