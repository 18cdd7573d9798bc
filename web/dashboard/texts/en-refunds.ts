/** The texts of the page of refunds. */
export const enRefunds = {
  refunds_intro: 'Money that goes back to customers.',
} as const;
