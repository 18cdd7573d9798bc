/** Files that share lines and are better left so. */
export interface Exception {
  /** The one file in which lines stand twice, or all files that share them. */
  readonly files: readonly string[];
  readonly why: string;
}

export const EXCEPTIONS: readonly Exception[] = [];
