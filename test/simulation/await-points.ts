/** The process is gone: nothing that it still tries has any effect. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

/** An interruption at one of the awaits of a piece of work, counted from 1. */
export type Interruption =
  /** The process ends, or a connection breaks: before the question is sent, or after it was carried out. */
  | { readonly kind: 'death' | 'loss'; readonly at: number; readonly when: 'before' | 'after' }
  /** Something else happens in the meantime: another worker, a customer, a new block. */
  | { readonly kind: 'meanwhile'; readonly at: number; readonly work: () => Promise<void> };

/** The awaits of one life of the process: every question to the database or a node passes here. */
export interface AwaitPoints {
  arm(interruption: Interruption): void;
  /** Takes back what did not happen yet. */
  disarm(): void;
  /** Whether what was armed last has happened. */
  happened(): boolean;
  /**
   * Asks a question. `lose` breaks the connection and gives the error that the asker sees; `isFree` says whether no
   * transaction is open, whose locks other work would wait for without end.
   */
  through<T>(perform: () => Promise<T>, lose: () => Error, isFree: () => boolean): Promise<T>;
}

export function createAwaitPoints(): AwaitPoints {
  let armed: Interruption | null = null;
  let count = 0;
  let dead = false;
  let fired = false;

  const strike = (kind: 'death' | 'loss', lose: () => Error): Error => {
    armed = null;
    fired = true;
    if (kind === 'loss') return lose();
    dead = true;
    return new ProcessDied('The process died.');
  };

  return {
    arm: (interruption) => {
      armed = interruption;
      count = 0;
      fired = false;
    },
    disarm: () => {
      armed = null;
    },
    happened: () => fired,
    through: async (perform, lose, isFree) => {
      if (dead) throw new ProcessDied('The process died.');
      count += 1;
      const due = armed !== null && count >= armed.at ? armed : null;
      if (due?.kind === 'meanwhile') {
        if (!isFree()) return perform();
        armed = null;
        fired = true;
        await due.work();
        return perform();
      }
      if (due?.when === 'before') throw strike(due.kind, lose);
      const answer = await perform();
      if (due?.when === 'after') throw strike(due.kind, lose);
      return answer;
    },
  };
}
