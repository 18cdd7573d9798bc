/** Whether a run tries what takes too long for every change (`scripts/nightly.sh`). */
export const isNight = process.env['NIGHT'] === 'on';
