// Fresh process: loads the library named by its argument, makes a plan for n = 1024 on the device named by the second one, and prints
// how long each step took; null where there is no such device.
const clock = [performance.now()];
const { openDevice } = await import(process.argv[2]);
clock.push(performance.now());
const [, , , kind = 'cpu'] = process.argv;
const device = await openDevice(kind, kind === 'cpu' ? { threads: 1 } : {}).catch(() => undefined);
if (!device) {
  console.log('null');
  process.exit(0);
}
clock.push(performance.now());
const problem = { size: [1024], precision: 'single' };
const plan = await device.plan(problem);
clock.push(performance.now());
const second = await device.plan(problem);
clock.push(performance.now());
plan.destroy();
second.destroy();
const start = performance.now();
const third = await device.plan(problem);
const again = performance.now() - start;
third.destroy();
await device.close();
const [load, open, cold, warm] = clock.slice(1).map((time, i) => time - clock[i]);
console.log(JSON.stringify({ load, open, cold, warm, again }));
