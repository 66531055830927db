// The playground's server and builder. `npm run playground` serves the page from its sources, and the examples, on this machine,
// with the library as `npm run build` has made it (Vite's options go behind `--`: `npm run playground -- --port 8000`);
// build.mjs makes static files.

import { join } from 'node:path';
import { defineConfig } from 'vite';
import { root } from '../scripts/bundle-browser.mjs';

/** Without these a browser gives no shared memory to a page, and its CPU device has one thread. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The playground lies beside the examples, and neither lies at the root. */
const leadThere = ({ middlewares }) => {
  middlewares.use((request, response, next) => {
    if (!/^\/(\?|$)/.test(request.url ?? '/')) next();
    else response.writeHead(302, { Location: '/playground/' }).end();
  });
};

const pages = ['index.html', 'programs.html'];

/** @param {string} library the folder with the library that the page imports */
export const configWith = (library) => ({
  root,
  base: './',
  appType: 'mpa',
  publicDir: false,
  cacheDir: join(root, 'node_modules', '.cache', 'omnifft', 'vite'),
  plugins: [{ name: 'lead-to-the-playground', configureServer: leadThere, configurePreviewServer: leadThere }],
  resolve: {
    alias: [
      { find: /^omnifft$/, replacement: join(library, 'omnifft.js') },
      { find: /^omnifft\/lift$/, replacement: join(library, 'lift.js') },
    ],
  },
  optimizeDeps: { entries: pages.map((page) => `playground/${page}`) },
  server: { host: '127.0.0.1', port: 8017, headers, watch: { ignored: ['**/out/**'] } },
  preview: { host: '127.0.0.1', port: 8017, headers },
  build: {
    target: 'es2022',
    assetsDir: 'playground/assets',
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: pages.map((page) => join(root, 'playground', page)),
      // The library loads itself for who takes a part of it only: this page takes all.
      checks: { ineffectiveDynamicImport: false },
    },
  },
});

export default defineConfig(configWith(join(root, 'dist', 'browser')));
