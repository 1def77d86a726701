/** Converts a call to its data, or throws a fault with the refusal. */
import type { ApiError } from './client.ts';

/** A refusal of the API. `message` is the API's sentence. */
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
 * Resolves to the data of a call: `await dataOf(api.GET('/domains/'))`. @throws ApiFault for a refusal, and for a
 * response without a body (304, HEAD)
 */
export async function dataOf<T>(call: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (data !== undefined) return data;
  throw new ApiFault(error?.error ?? `the answer is ${response.status}, and has no body`, response);
}
