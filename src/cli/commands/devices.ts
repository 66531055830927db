/** `omnifft devices`: lists the devices that plans can run on, and the reasons why other kinds are not available. */

import type { Command } from 'commander';
import { type DeviceFacts, listDevices } from '../../index.ts';
import { alignedRows } from '../format.ts';
import { withJson } from '../options.ts';

export function addDevices(program: Command): void {
  withJson(program.command('devices').description('list the devices of each kind, and why a kind is missing')).action(
    async ({ json }: { json: boolean }) => {
      const devices = await listDevices();
      if (json) return console.log(JSON.stringify(devices, null, 2));
      const rows = devices.flatMap((info): string[][] => {
        if (!info.available) return [[info.kind, 'missing', info.reason]];
        const lines = info.devices?.map(deviceRow) ?? [info.name];
        return lines.map((line, n) => (n === 0 ? [info.kind, 'available', line] : ['', '', line]));
      });
      console.log(alignedRows(rows));
    },
  );
}

/** A device with the number that `openDevice` takes for it. */
function deviceRow({ name, memory, driver, fault }: DeviceFacts, number: number): string {
  const facts = [
    name,
    memory ? `${(memory / 2 ** 30).toFixed(1)} GiB` : '',
    driver ?? '',
    fault ? `which ${fault}` : '',
  ];
  return `${number}: ${facts.filter((each) => each !== '').join(', ')}`;
}
