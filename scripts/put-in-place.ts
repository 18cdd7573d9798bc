import { rename, rm } from 'node:fs/promises';

/**
 * Puts a folder that was made beside `target` in its place. Folders cannot be replaced in one step; who looks in
 * between finds none. When another one is put there at the same time, one of both stays.
 */
export async function putInPlace(fresh: string, target: string): Promise<void> {
  const old = `${fresh}-old`;
  for (;;) {
    await rename(target, old).catch(unless('ENOENT'));
    try {
      await rename(fresh, target);
      break;
    } catch (error) {
      // Another build came first; ours is as new as any.
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
