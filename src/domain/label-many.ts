/** The most payments of one request: few enough that nothing else waits for their transaction. */
export const MAX_LABELLED = 100;

/** Why a payment of a selection keeps its labels: it is not there, or it has as many as it may have. */
export const LABEL_FAULTS = ['missing', 'full'] as const;
