import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** `fails`: it takes no mail now. `hangs`: it answers no mail. `away`: nothing listens. */
export const WEATHERS = ['works', 'fails', 'hangs', 'away'] as const;
export type Weather = (typeof WEATHERS)[number];

/** A mail server whose weather changes. */
export interface MailServer {
  readonly port: number;
  /** The times at which it took a mail, by Message-ID. */
  readonly taken: ReadonlyMap<string, readonly number[]>;
  weather(): Weather;
  become(weather: Weather): Promise<void>;
}

/** Starts a mail server that takes everything while it works. */
export async function startMailServer(): Promise<MailServer> {
  const taken = new Map<string, number[]>();
  let weather: Weather = 'works';
  let port = 0;
  const open = async (): Promise<SMTPServer> => {
    const server = new SMTPServer({
      disableReverseLookup: true,
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      closeTimeout: 1,
      onData: (stream, _session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
        stream.on('end', () => {
          if (weather === 'hangs') return;
          if (weather !== 'works') {
            done(Object.assign(new Error('Not now.'), { responseCode: 451 }));
            return;
          }
          const id = /^message-id: (<[^>]+>)/im.exec(Buffer.concat(chunks).toString())?.[1] ?? '';
          taken.set(id, [...(taken.get(id) ?? []), Date.now()]);
          done(null);
        });
      },
    });
    // A killed client is the measurement's own doing.
    server.on('error', () => {});
    const listening = server.listen(port, '127.0.0.1');
    await once(listening, 'listening');
    port = (listening.address() as AddressInfo).port;
    return server;
  };
  let server: SMTPServer | null = await open();
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      if (server === null) resolve();
      else server.close(() => resolve());
      server = null;
    });
  return {
    port,
    taken,
    weather: () => weather,
    become: async (next) => {
      weather = next;
      if (next === 'away') await close();
      else server ??= await open();
    },
  };
}
