import { followTheme } from './theme.ts';

// A separate script that the page waits for, so that the first paint has the right colours.
followTheme();
