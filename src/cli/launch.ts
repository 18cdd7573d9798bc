import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtProgram } from '../config/built.ts';

// What `npm ci` built starts in half the time; if sources were changed since, they run as they are.
const built = builtProgram(path.join(import.meta.dirname, '../..'));
await (built === null ? import('./cointill.ts') : import(pathToFileURL(built).href));
