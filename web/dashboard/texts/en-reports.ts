/** The texts of the page of reports. */
export const enReports = {
  reports_intro: 'Figures for accounting, for any period.',
} as const;
