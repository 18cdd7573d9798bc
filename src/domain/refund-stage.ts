/**
 * Where a refund stands, as people are shown it. A pending one waits for the customer's address, is to be signed, was
 * seen on the chain (`seen`), or was in a block that a reorganisation removed (`reorged`).
 */
export const REFUND_STAGES = ['waiting_for_address', 'to_sign', 'seen', 'reorged', 'completed', 'failed'] as const;
export type RefundStage = (typeof REFUND_STAGES)[number];
