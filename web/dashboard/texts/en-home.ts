/** Home. */
export const enHome = {
  by_currency: 'By currency',
  by_token: 'By coin',
  compared_before: 'Dashed: the time before.',
  conversion_of: '{completed} of {ended} that ended',
  first_day: 'First day',
  last_day: 'Last day',
  median: 'Median time',
  median_of: 'creation to completion',
  no_completed: 'Nothing was completed in this time.',
  nothing_before: 'nothing before',
  range_1d: 'Today',
  range_30d: 'Last 30 days',
  range_365d: 'Last 365 days',
  range_7d: 'Last 7 days',
  range_90d: 'Last 90 days',
  range_custom: 'Other days…',
  same_before: 'the same as before',
  shown_range:
    '{from} to {to}, compared with the {days} days before. Payments in other currencies count at the USD rate of their creation.',
  shown_day:
    '{day}, compared with the day before. Payments in other currencies count at the USD rate of their creation.',
  volume_a_hour: 'Volume an hour',
  volume_a_week: 'Volume a week',
  volume_before: 'Volume before',
} as const;
