import { readFileSync } from 'node:fs';

/** Ctrl-C, while keys are read one by one. */
const CTRL_C = '\u0003';

/** Calls `run` at each press of a key in the terminal; null without a terminal. */
export function onKey(key: string, run: () => Promise<void>): { readonly end: () => void } | null {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY || !isInForeground()) return null;
  const onData = (data: Buffer): void => {
    const typed = data.toString();
    if (typed === CTRL_C) process.kill(process.pid, 'SIGINT');
    else if (typed === key) void run();
  };
  stdin.setRawMode(true);
  stdin.on('data', onData);
  return {
    end: () => {
      stdin.off('data', onData);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

/** A process in the background is stopped when it changes the terminal. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return group === foreground;
  } catch {
    return true;
  }
}
