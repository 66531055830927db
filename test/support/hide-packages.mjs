// Imported before a program (`node --import`): packages that open devices cannot be found from then on.
import { register } from 'node:module';

const hooks = `
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    const [, name] = /\\/node_modules\\/(koffi|webgpu)\\//.exec(found.url) ?? [];
    if (!name) return found;
    throw Object.assign(new Error('Cannot find package ' + name + ', which is hidden'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
