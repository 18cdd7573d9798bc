import { readConfig } from '../src/config/config.ts';

/** The names of all settings that the program reads. */
export function settingsRead(): ReadonlySet<string> {
  const read = new Set<string>();
  const asking = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void read.add(String(name)) });
  readConfig(asking, import.meta.dirname);
  return read;
}
