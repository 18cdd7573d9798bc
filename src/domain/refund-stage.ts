/**
 * The stage of a refund, as people see it. A pending one waits for the customer's address, is ready to sign, was seen
 * on the chain (`seen`), or was in a block that a reorganisation removed (`reorged`).
 */
export const REFUND_STAGES = ['waiting_for_address', 'to_sign', 'seen', 'reorged', 'completed', 'failed'] as const;
export type RefundStage = (typeof REFUND_STAGES)[number];
