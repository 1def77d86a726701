/** Where following the control plane tells what happens; a pino logger fits. */
export interface SyncLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What an error says. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
