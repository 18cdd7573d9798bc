import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';

/**
 * How a way behaves: `slow`: everything comes late. `silent`: nothing passes, and no connection ends. `cut`: every
 * connection ends, and so does each new one. `half`: the next piece is cut in the middle, and its connection ends.
 */
export const WEATHERS = ['works', 'slow', 'silent', 'cut', 'half'] as const;
export type Weather = (typeof WEATHERS)[number];

/** A way by TCP whose weather changes. */
export interface Proxy {
  readonly port: number;
  readonly weather: () => Weather;
  readonly become: (weather: Weather) => void;
  readonly close: () => void;
}

/** A port, or the path of a socket. */
export type Target = number | string;

const SLOW_MS = 150;

/** Leads each connection to the next target in turn that takes it. */
export async function startProxy(targets: () => readonly Target[], port = 0): Promise<Proxy> {
  const sockets = new Set<net.Socket>();
  let weather: Weather = 'works';
  let turn = 0;
  const pass = (from: net.Socket, to: net.Socket): void => {
    // In their order, also when the weather changes meanwhile.
    let last = Promise.resolve();
    from.on('data', (piece: Buffer) => {
      if (weather === 'silent') return;
      if (weather === 'half') {
        to.end(piece.subarray(0, piece.length / 2));
        from.destroy();
        return;
      }
      const waits = weather === 'slow' ? SLOW_MS : 0;
      last = later(last, waits, () => void (to.destroyed || to.write(piece)));
    });
    from.on('close', () => void later(last, 0, () => void to.destroy()));
  };
  const lead = async (near: net.Socket): Promise<void> => {
    const far = await connect(targets(), (turn += 1));
    if (far === null) {
      near.destroy();
      return;
    }
    sockets.add(far);
    far.on('error', () => {});
    far.on('close', () => void sockets.delete(far));
    pass(near, far);
    pass(far, near);
    near.resume();
  };
  const server = net.createServer((near) => {
    sockets.add(near);
    near.on('error', () => {});
    near.on('close', () => void sockets.delete(near));
    if (weather === 'cut') {
      near.destroy();
      return;
    }
    near.pause();
    void lead(near);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    weather: () => weather,
    become: (next) => {
      // A connection that lacks what was dropped is of no use any more.
      if (next === 'cut' || weather === 'silent') destroyAll();
      weather = next;
    },
    close: () => {
      server.close();
      destroyAll();
    },
  };
}

/** Does something after all that came before, and a while. */
async function later(last: Promise<void>, waitMs: number, work: () => void): Promise<void> {
  await last;
  if (waitMs > 0) await passed(waitMs);
  work();
}

/** The first target from `turn` on that takes a connection. */
async function connect(targets: readonly Target[], turn: number): Promise<net.Socket | null> {
  for (let step = 0; step < targets.length; step += 1) {
    const target = targets[(turn + step) % targets.length];
    if (target === undefined) continue;
    const socket = typeof target === 'number' ? net.connect(target, '127.0.0.1') : net.connect(target);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (isOpen) return socket;
  }
  return null;
}
