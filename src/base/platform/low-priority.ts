/** The priority of threads that compute. */
import { constants, setPriority } from 'node:os';

/**
 * Lowers the priority of this thread, so that a computation of seconds does not slow the threads that answer. Linux has a
 * priority for each thread (sched(7), "The nice value"); elsewhere it is that of the whole process and stays.
 *
 * Nice 10 leaves it a tenth of a processor beside a thread that is always busy. With nice 19, a sixtieth, two seconds of
 * analysis took more than a minute on a machine that was busy with something else.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}
