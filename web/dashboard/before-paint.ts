import { followTheme } from './theme.ts';

// A script of its own that the page waits for: the first thing that is drawn has the right colours.
followTheme();
