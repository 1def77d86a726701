/** Calls as values: what a call answered, or a fault that carries the refusal. */
import type { ApiError } from './client.ts';

/** The API refused; `message` is its sentence. */
export class ApiFault extends Error {
  readonly status: number;
  readonly response: Response;

  constructor(message: string, response: Response) {
    super(message);
    this.name = 'ApiFault';
    this.status = response.status;
    this.response = response;
  }
}

interface Answered<T> {
  readonly data?: T;
  readonly error?: ApiError;
  readonly response: Response;
}

/**
 * What a call answered: `await dataOf(api.GET('/domains/'))`. Throws an `ApiFault` for a refusal, and for an answer
 * without a body (304, HEAD).
 */
export async function dataOf<T>(call: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (data !== undefined) return data;
  throw new ApiFault(error?.error ?? `the answer is ${response.status}, and has no body`, response);
}
