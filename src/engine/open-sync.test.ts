/** The CPU without waiting. */
import { describe, expect, it } from 'vitest';
import { relativeError, tolerance } from '../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { expectedOf } from '../../test/support/transforms.ts';
import { openCpuSync } from './open-sync.ts';

const random = randomFor('engine/open-sync');

describe('openCpuSync and planSync', () => {
  it.each([64, 1000, 2 ** 15])('transform at once (%i points)', (n) => {
    const device = openCpuSync();
    expect(device.kind).toBe('cpu');
    expect(device.profile.multiprocessors).toBe(1);
    const plan = device.planSync({ size: [n], precision: 'double' });
    const x = uniform(random, 2 * n);
    const { hi, lo } = expectedOf(plan.problem, 'forward', x);
    expect(relativeError(plan.forwardSync(x), hi, lo)).toBeLessThanOrEqual(tolerance('double', n));
    device.close();
  });

  it('plans are those of plan()', async () => {
    const device = openCpuSync();
    const plan = device.planSync('dcfo360*5');
    const other = await device.plan('dcfo360*5');
    expect(plan.toJSON()).toEqual(other.toJSON());
    expect(device.planSync('dcfo360*5', { from: other.serialize() }).toJSON()).toEqual(other.toJSON());
    device.close();
    expect(() => plan.forwardSync(new Float64Array(3600))).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });

  it('errors come at once', () => {
    const device = openCpuSync();
    expect(() => device.planSync({ size: [0] })).toThrow(expect.objectContaining({ code: 'invalid-size' }));
    expect(() => device.planSync('scfo8', { form: '' } as object)).toThrow(
      expect.objectContaining({ code: 'unknown-field' }),
    );
    device.close();
    expect(() => device.planSync('scfo8')).toThrow(expect.objectContaining({ code: 'device-closed' }));
  });
});
