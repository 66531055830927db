// Unpacks SwiftShader, Vulkan on the processor, from the installed package @sparticuz/chromium and prints the settings
// with which any program finds it:
//
//   eval "$(node scripts/software-adapter.mjs)"
//
// omnifft does not need them: openDevice('webgpu', { software: true }) does the same by itself.

import { dirname } from 'node:path';

const { softwareDriver } = await import(new URL('../dist/devices/webgpu/software.js', import.meta.url)).catch(() =>
  fail('npm run build has to come first'),
);

try {
  const { driver, loader } = await softwareDriver();
  console.log(`export VK_DRIVER_FILES='${driver}'`);
  console.log(`# where the system has no Vulkan loader: export LD_LIBRARY_PATH='${dirname(loader)}'`);
} catch (error) {
  fail(error.message);
}

function fail(why) {
  console.error(`omnifft: no software adapter: ${why}`);
  process.exit(1);
}
