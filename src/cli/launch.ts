import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtProgram } from '../config/built.ts';

if (process.argv[2] === '--settings') (await import('./settings-file.ts')).takeSettingsFile();

// The program built by `npm ci` starts in half the time; if sources were changed since, they are run directly.
const built = builtProgram(path.join(import.meta.dirname, '../..'));
await (built === null ? import('./cointill.ts') : import(pathToFileURL(built).href));
