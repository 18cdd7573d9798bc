import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../..');
const FROM_SOURCES = path.join(ROOT, 'src/cli/launch.ts');

/** Whether this is a checkout. The npm package, and an image made of it, have the built program alone. */
export const isCheckout = existsSync(FROM_SOURCES);

/** The script that `bin/cointill` runs. */
export const LAUNCHER = isCheckout ? FROM_SOURCES : path.join(ROOT, 'dist/program/launch.js');

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The usual DATA_DIR: `data` in the folder of a checkout, otherwise the user's folder for data (XDG Base Directory
 * Specification, which ignores relative paths), because a package is started in whatever folder somebody is in.
 */
export function usualDataDir(env: Environment, cwd: string): string {
  if (isCheckout) return path.resolve(cwd, 'data');
  const given = env['XDG_DATA_HOME'] ?? '';
  if (path.isAbsolute(given)) return path.join(given, 'cointill');
  const home = homeOf();
  return home === null ? path.resolve(cwd, 'data') : path.join(home, '.local/share/cointill');
}

/** Null for a user without a name and HOME, as a container may have. */
function homeOf(): string | null {
  try {
    const home = os.homedir();
    return path.isAbsolute(home) ? home : null;
  } catch {
    return null;
  }
}
