/** Fields logged with a fault: ids, names and figures; never a secret or customer data. */
export type ProblemDetails = Readonly<Record<string, string | number>>;

/**
 * The place where every part of the program reports faults that it survives. A part may report each single failure: one
 * implementation decides how many of them are logged. Implementations do not block and must not throw.
 */
export interface Problems {
  /**
   * `subject` is failing, for example `price source kraken`; it is printed before a colon. `problem`: an error that was
   * thrown, or plain words for an expected failure.
   */
  failed(subject: string, problem: unknown, details?: ProblemDetails): void;
  /** `subject` works. Cheap enough to be called every time. */
  works(subject: string): void;
  /** Something failed once and is over, such as one request. */
  happened(subject: string, problem: unknown, details?: ProblemDetails): void;
}

/** Discards everything. */
export const NO_REPORTS: Problems = { failed: () => {}, works: () => {}, happened: () => {} };
