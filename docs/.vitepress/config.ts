/** The documentation site: the guides as they lie in docs/, the reference out of the docstrings, the playground beside them. */
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const page = (text: string, name: string) => ({ text, link: `/docs/${name}` });
const entries = ['', '/numpy', '/numpy/sync', '/signal', '/signal/sync', '/lift', '/world', '/sync', '/numeric'].map(
  (path) => `omnifft${path}`,
);

export default defineConfig({
  title: 'omnifft',
  description: 'Fast Fourier transforms, planned and compiled at run time for the device they run on.',
  base: process.env.OMNIFFT_SITE_BASE ?? '/',
  srcDir: '..',
  srcExclude: ['bench/**', 'dist*/**', 'out/**', 'playground/**', 'scripts/**', 'src/**', 'test/**'],
  outDir: '../out/site',
  cacheDir: '../out/site-cache',
  rewrites: { 'README.md': 'index.md' },
  // `scripts/docs.mjs` looks at them when what lies beside the pages is there, too.
  ignoreDeadLinks: true,
  head: [['link', { rel: 'icon', href: `${process.env.OMNIFFT_SITE_BASE ?? '/'}playground/icon.svg` }]],
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Guides', link: '/docs/getting-started' },
      { text: 'Reference', link: '/docs/reference/' },
      { text: 'Performance', link: '/docs/performance' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Overview', link: '/' },
          page('Getting started', 'getting-started'),
          page('Layouts', 'layouts'),
          page('Errors', 'errors'),
        ],
      },
      {
        text: 'By subject',
        items: [
          page('Convolution', 'convolution'),
          page('Callbacks', 'callbacks'),
          page('Precision', 'precision'),
          page("NumPy's names", 'numpy'),
          page('Signals', 'signal'),
          page('Programs of patterns', 'lift'),
          page('Many ranks', 'world'),
          page('Tuning', 'tuning'),
          page('Command line', 'cli'),
          page('VkFFT parity', 'vkfft-parity'),
        ],
      },
      {
        text: 'By device',
        items: [
          page('Browsers', 'browser'),
          page('WebGPU', 'webgpu'),
          page('CUDA, HIP, OpenCL', 'native'),
          page('Platforms', 'platforms'),
        ],
      },
      {
        text: 'Performance',
        items: [page('CPU', 'performance'), page('GPU', 'performance-gpu'), page('Notes', 'performance-notes')],
      },
      {
        text: 'Reference',
        collapsed: false,
        items: entries.map((name) => page(name, `reference/${name}`)),
      },
      {
        text: 'Project',
        items: [
          page('Architecture', 'architecture'),
          { text: 'Examples', link: '/examples/README' },
          { text: 'Contributing', link: '/CONTRIBUTING' },
          { text: 'Security', link: '/SECURITY' },
          { text: 'Changes', link: '/CHANGELOG' },
        ],
      },
    ],
  },
});
