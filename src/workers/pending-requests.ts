/** Questions on their way to another process, by number. */

export interface PendingRequests<T> {
  /** Sends a question under a new number; resolves with its answer. */
  send(send: (number: number) => void): Promise<T>;
  answer(number: number, value: T): void;
  /** Answers everything that is open: nobody else will. */
  end(value: T): void;
}

export interface PendingRequestsOptions<T> {
  /** Milliseconds an answer may take, and what stands in for one that is late; `null`: as long as it takes. */
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
