/** Requests to another process that wait for their replies, matched by number. */

/** Requests with replies of type `T`. */
export interface PendingRequests<T> {
  /** Sends a request under a new number; resolves with its reply, or with `late.value()`. */
  send(send: (number: number) => void): Promise<T>;
  /** Resolves a request; unknown numbers are ignored. */
  answer(number: number, value: T): void;
  /** Resolves all open requests, as the other process has ended. */
  end(value: T): void;
}

export interface PendingRequestsOptions<T> {
  /** Milliseconds until a request is resolved without a reply, and with what; `null`: no time limit. */
  readonly late: { readonly ms: number; readonly value: () => T } | null;
}

export function createPendingRequests<T>({ late }: PendingRequestsOptions<T>): PendingRequests<T> {
  const open = new Map<number, (value: T) => void>();
  let last = 0;
  return {
    send(send) {
      const number = ++last;
      return new Promise<T>((resolve) => {
        const timer = late === null ? undefined : setTimeout(() => settle(late.value()), late.ms);
        function settle(value: T): void {
          clearTimeout(timer);
          open.delete(number);
          resolve(value);
        }
        open.set(number, settle);
        send(number);
      });
    },
    answer: (number, value) => open.get(number)?.(value),
    end(value) {
      for (const settle of [...open.values()]) settle(value);
    },
  };
}
