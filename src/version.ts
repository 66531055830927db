export { version } from './engine/programs/version.ts';
