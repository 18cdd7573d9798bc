/** The texts of the page of settings. */
export const enSettings = {
  settings_intro: 'How this project looks to customers, and its defaults.',
} as const;
