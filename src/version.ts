export { version } from './engine/version.ts';
