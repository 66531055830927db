import { profiles } from '../src/devices/profiles/index.ts';
