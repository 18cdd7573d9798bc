/** The service cannot listen where its settings say; the cause is the operating system's error. */
export class ListenError extends Error {
  readonly port: number;

  constructor(port: number, cause: unknown) {
    super(`cannot listen on port ${port}`, { cause });
    this.port = port;
  }
}
