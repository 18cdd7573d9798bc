import { rename, rm } from 'node:fs/promises';

/**
 * Replaces `target` with a folder that was made beside it. Folders cannot be replaced in one step, so for a moment
 * there is none. If two builds put a folder there at the same time, one of the two stays.
 */
export async function putInPlace(fresh: string, target: string): Promise<void> {
  const old = `${fresh}-old`;
  for (;;) {
    await rename(target, old).catch(unless('ENOENT'));
    try {
      await rename(fresh, target);
      break;
    } catch (error) {
      // Another build was first; ours is just as new.
      unless('ENOTEMPTY', 'EEXIST', 'EPERM')(error);
    } finally {
      await rm(old, { recursive: true, force: true });
    }
  }
}

function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && codes.includes(String(error.code)))) throw error;
  };
}
