/** The address at which a monitor listens: its answers are only for this machine. */
export const MONITOR_HOST = '127.0.0.1';

/** The service cannot listen where its settings say; the cause is the operating system's error. */
export class ListenError extends Error {
  readonly port: number;

  constructor(port: number, cause: unknown) {
    super(`cannot listen on port ${port}`, { cause });
    this.port = port;
  }
}
