/** The severities of diagnostics. */

/** With an error the input is rejected; the others are informational. */
export type Severity = 'error' | 'warning' | 'info';
