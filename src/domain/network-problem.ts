/** Problems of following a network; `halted` and `unhealthy` are explained by their text alone. */
export const NETWORK_PROBLEMS = [
  'not_followed',
  'no_answer',
  'halted',
  'unhealthy',
  'unread',
  'behind',
  'stalled',
] as const;
export type NetworkProblem = (typeof NETWORK_PROBLEMS)[number];
