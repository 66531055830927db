/** What makes the pages of the guides alive, for host.test.ts: tables as plots, and programs that run. */
import { drawFigures } from '../../../docs/.vitepress/theme/figures.ts';
import { runPrograms, text } from '../../../docs/.vitepress/theme/programs.ts';

/** What the test calls in the page. */
export interface GuidesPage {
  readonly guides: {
    readonly drawFigures: typeof drawFigures;
    readonly runPrograms: typeof runPrograms;
    readonly text: typeof text;
  };
}

(globalThis as unknown as { guides: GuidesPage['guides'] }).guides = { drawFigures, runPrograms, text };
