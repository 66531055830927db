/** `omnifft devices`: what there is to run on, and why the rest is missing. */

import type { Command } from 'commander';
import { listDevices } from '../../index.ts';
import { table } from '../format.ts';
import { withJson } from '../options.ts';

export function addDevices(program: Command): void {
  withJson(program.command('devices').description('list the kinds of devices, and why one is missing')).action(
    async ({ json }: { json: boolean }) => {
      const devices = await listDevices();
      if (json) return console.log(JSON.stringify(devices, null, 2));
      const rows = devices.map(({ kind, name, available, reason }) => [
        kind,
        available ? 'available' : 'missing',
        available ? name : (reason ?? name),
      ]);
      console.log(table(rows));
    },
  );
}
