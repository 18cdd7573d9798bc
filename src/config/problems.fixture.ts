import { ConfigError, readConfig } from './config.ts';

/** The problems of these settings, a message each. */
export function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, '/srv/cointill');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
