/** What is told beside a trouble: ids, names and figures; never a secret, nor what belongs to a customer. */
export type TroubleDetails = Readonly<Record<string, string | number>>;

/**
 * Where every part reports what it survives. It may be told of each single failure, however many there are: what is made of
 * them is decided in one place. Nothing waits for it, and it must not throw.
 */
export interface Troubles {
  /**
   * What `subject` names does not do its work, such as `price source kraken`: it reads well before a colon. `problem`: a fault that
   * was thrown, or plain words for what is known to happen.
   */
  failed(subject: string, problem: unknown, details?: TroubleDetails): void;
  /** It did its work. Cheap enough to be said each time. */
  works(subject: string): void;
  /** Something went wrong that is over with that, such as one request. */
  happened(subject: string, problem: unknown, details?: TroubleDetails): void;
}

/** For whoever has nobody to tell. */
export const NO_REPORTS: Troubles = { failed: () => {}, works: () => {}, happened: () => {} };
