/** VitePress's own theme; its pages come alive when they are shown. */
import { useRoute, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';
import { drawFigures } from './figures.ts';
import { runPrograms } from './programs.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    const liven = async () => {
      await nextTick();
      const page = document.querySelector<HTMLElement>('.vp-doc');
      if (!page) return;
      runPrograms(page, withBase('/dist/browser/'));
      await drawFigures(page);
    };
    onMounted(liven);
    watch(() => route.path, liven);
  },
};
